import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { marker, sliceOf } from '../../gateway/batch/batch.js'
import { isTransient, open, schema } from '../../gateway/databases/null/sink.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { createWriter } from '../../gateway/writer/writer.js'
import { batchOf, EPOCH, failureOf, identity } from './contract/batches.js'

describe('Null sink', () => {
  it('reports that it stores nothing', async () => {
    expect(schema.description).to.match(/Stores nothing/)
    expect((await open()).notice?.()).to.equal('stores nothing')
  })

  it('reports the batches it was given, so that spools release them, and recognises duplicates', async () => {
    const sink = await open()
    const batches = [batchOf([1], { identity: identity(0) }), marker(identity(1)), batchOf([1], { identity: identity(3) })]
    expect(await sink.write([...batches, batchOf([1])])).to.deep.equal({ duplicates: [] })
    expect(await sink.committed()).to.deep.equal([{ ...EPOCH, ranges: [[0, 1], [3, 3]] }])
    expect((await sink.write(batches)).duplicates).to.deep.equal(batches)
  })

  it('ends what is aborted, and leaves nothing of a probe', async () => {
    const sink = await open()
    const batch = batchOf([1], { identity: identity(0) })
    expect((await failureOf(() => sink.write([batch], { signal: AbortSignal.abort(new Error('closing')) }))).message).to.equal('closing')
    expect(await sink.write([sliceOf(batch, 0, 1), sliceOf(batch, 0, 1)], { probe: true })).to.deep.equal({ duplicates: [] })
    expect(await sink.committed()).to.deep.equal([])
  })

  it('lets a writer count its batches as stored', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-null-'))
    const deadLetters = await openDeadLetterQueue(folder)
    const log = { info () {}, warn () {}, error () {} }
    const writer = createWriter({ sink: await open(), isTransient, deadLetters, log, options: { maxAgeMs: 5 } })
    const results = await Promise.all([0, 1, 0].map(seq => writer.write(batchOf([1, 2], { identity: identity(seq) }))))
    expect(results.map(({ outcome }) => outcome)).to.deep.equal(['stored', 'stored', 'duplicate'])
    await writer.close()
    await deadLetters.close()
    await rm(folder, { recursive: true })
  })
})
