import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { marker } from '../../gateway/batch/batch.js'
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
    expect(await sink.write([...batches, batchOf([1])])).to.deep.equal({ duplicates: [], clashes: [] })
    const { store, records } = await sink.committed()
    expect(records.map(({ first, last, stored }) => [first, last, stored])).to.deep.equal([[0, 0, 1], [1, 1, 0], [3, 3, 1]])
    expect(await sink.write(batches)).to.deep.equal({ duplicates: batches, clashes: [] })
    expect((await (await open()).committed()).store).not.to.equal(store)
  })

  it('keeps no record for each of the batches that spools have released', async () => {
    const sink = await open()
    const identities = Array.from({ length: 10 }, (_, seq) => ({ ...identity(seq), hash: 2 ** 47, before: 2 * seq }))
    const batches = identities.map(each => batchOf([1, 2], { identity: each }))
    await sink.write(batches)
    await sink.compact([{ ...EPOCH, first: 9, last: 9 }])
    const { records } = await sink.committed()
    expect(records.map(({ first, last, hash, stored, before }) => [first, last, hash, stored, before])).to.deep.equal([
      [0, 8, 2 ** 47, 18, 0], [9, 9, 2 ** 47, 2, 18]
    ])
    expect((await sink.write(batches)).duplicates).to.have.length(10)
  })

  it('tells a batch from another under its identity, and from one that was staged again', async () => {
    const sink = await open()
    const [stored, other] = [7, 8].map(hash => batchOf([1], { identity: { ...identity(0), hash } }))
    const again = batchOf([1], { identity: { ...identity(1), ancestors: [{ epoch: EPOCH.epoch, seq: 0, hash: 7 }] } })
    await sink.write([stored])
    expect(await sink.write([other, again])).to.deep.equal({ duplicates: [again], clashes: [other] })
    expect((await sink.committed()).records.map(({ staged }) => staged)).to.deep.equal([1, 0])
  })

  it('ends what is aborted, and leaves nothing of a probe', async () => {
    const sink = await open()
    const batch = batchOf([1], { identity: identity(0) })
    expect((await failureOf(() => sink.write([batch], { signal: AbortSignal.abort(new Error('closing')) }))).message).to.equal('closing')
    expect(await sink.write([batch.slice(0, 1), batch.slice(0, 1)], { probe: true })).to.deep.equal({ duplicates: [], clashes: [] })
    expect((await sink.committed()).records).to.deep.equal([])
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
