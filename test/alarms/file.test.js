import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { AlarmFile } from '../../gateway/alarms/file.js'

describe('The file of alarms', () => {
  /** @type {string} */
  let folder
  /** @type {string} */
  let path
  /** @type {string[]} */
  let warnings

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-alarms-'))
    path = join(folder, 'sluice', 'alarms.json')
    warnings = []
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  const open = () => new AlarmFile(path, text => warnings.push(text))
  const kept = (/** @type {number} */ count) => () => ({ alarms: [], more: {}, counts: { lost: count } })

  it('has what was saved last, for its owner alone', async () => {
    expect(open().kept).to.equal(null)
    await open().save(kept(1))
    expect(open().kept).to.deep.equal(kept(1)())
    expect((await stat(path)).mode & 0o777).to.equal(0o600)
    expect(warnings).to.deep.equal([])
  })

  it('is read as an earlier version has left it', async () => {
    await open().save(kept(1))
    await writeFile(path, JSON.stringify({ alarms: [], counts: { lost: 1 } }))
    expect(open().kept).to.deep.equal(kept(1)())
  })

  it('is written only when something has changed', async () => {
    const file = open()
    await file.save(kept(1))
    await file.save(kept(2))
    expect(open().kept).to.deep.equal(kept(1)())
    file.changed()
    await file.save(kept(3))
    expect(open().kept).to.deep.equal(kept(3)())
  })

  it('is forgotten when it is damaged, with a warning', async () => {
    await open().save(kept(1))
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, 9))
    expect(open().kept).to.equal(null)
    expect(warnings.join()).to.match(/^The alarms of before are forgotten: /)
  })

  it('is forgotten when it has something else than alarms, with a warning', async () => {
    for (const alarms of [[{ kind: 'spool', id: 'spool:stage:x' }], [null], 'none', {}]) {
      await open().save(kept(1))
      await writeFile(path, JSON.stringify({ alarms, counts: {} }))
      warnings = []
      expect(open().kept, JSON.stringify(alarms)).to.equal(null)
      expect(warnings.join()).to.match(/^The alarms of before are forgotten: /)
    }
  })

  it('is written once it can be, with one warning until then', async () => {
    const file = open()
    await writeFile(join(folder, 'sluice'), 'no folder')
    await file.save(kept(1))
    await file.save(kept(1))
    expect(warnings).to.have.length(1)
    await rm(join(folder, 'sluice'))
    await file.save(kept(1))
    expect(open().kept).to.deep.equal(kept(1)())
  })

  it('does not bring back a folder of data that is gone', async () => {
    const file = open()
    await rm(folder, { recursive: true })
    await file.save(kept(1))
    expect(await stat(folder).catch(({ code }) => code)).to.equal('ENOENT')
  })
})
