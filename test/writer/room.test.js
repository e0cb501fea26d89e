import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { batchOf, openWriter, range, settle } from './fake-sink.js'

describe('a writer of a database in this process', () => {
  it('does not keep everything else from its turn while group follows group', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-writer-'))
    const { writer, sink } = await openWriter(folder, { options: { batchRows: 1 } })
    /** @type {string[]} */
    const happened = []
    sink.onStep = step => { if (step === 'commit') happened.push('group') }
    const turn = () => {
      happened.push('turn')
      ticking = setImmediate(turn)
    }
    let ticking = setImmediate(turn)
    await Promise.all(range(0, 20).map(value => writer.write(batchOf([value]))))
    clearImmediate(ticking)
    expect(happened.filter(what => what === 'group')).to.have.length(20)
    expect(happened.join(' ')).to.not.include('group group')
    await writer.close()
    await rm(folder, { recursive: true })
  })
})

describe('a writer that is full', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-writer-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('reports room as soon as something is stored', async () => {
    const { writer, sink } = await openWriter(folder, { options: { maxPendingBytes: 1024, maxAgeMs: 1 } })
    const storing = Promise.withResolvers()
    sink.onStep = () => /** @type {Promise<void>} */ (storing.promise)
    const large = writer.write(batchOf(range(0, 1000)))
    let hasRoom = false
    const room = writer.room.then(() => { hasRoom = true })
    await settle()
    expect(hasRoom).to.equal(false)
    storing.resolve(undefined)
    await room
    expect((await writer.write(batchOf([1]))).outcome).to.equal('stored')
    expect((await large).outcome).to.equal('stored')
    await writer.close()
  })
})
