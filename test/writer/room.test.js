import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { batchOf, openWriter, range, settle } from './fake-sink.js'

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
