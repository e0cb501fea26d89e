import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { replaceFile } from '../../gateway/base/files.js'

describe('a file that is replaced', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-files-')) })
  afterEach(() => rm(folder, { recursive: true }))

  /** @param {string} name @param {number} hours  ago */
  async function leave (name, hours) {
    await writeFile(path.join(folder, name), 'half')
    const at = Date.now() / 1000 - hours * 3600
    await utimes(path.join(folder, name), at, at)
    return name
  }

  it('leaves nothing of what killed processes had begun, and everything of others', async () => {
    const temporary = () => `state.${randomUUID()}.new`
    await leave(temporary(), 2)
    await leave(temporary(), -2) // the clock was wrong
    const kept = [await leave(temporary(), 0), await leave('notes.new', 2), await leave(`state.${randomUUID()}`, 2)]
    await replaceFile(path.join(folder, 'state'), 'whole')
    expect((await readdir(folder)).sort()).to.deep.equal(['state', ...kept].sort())
    expect(await readFile(path.join(folder, 'state'), 'utf8')).to.equal('whole')
  })

  it('is not there, nor a part of it, where it cannot be written', async () => {
    const error = await replaceFile(path.join(folder, 'missing', 'state'), 'text').then(() => null, reason => reason)
    expect(error).to.have.property('code', 'ENOENT')
    expect(await readdir(folder)).to.deep.equal([])
  })
})
