import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { FakeSink, TransientError, batchOf, openWriter, range, valuesOf } from './fake-sink.js'

describe('A batch without identity that is larger than the batch size', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-writer-')) })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('is stored in parts of no more rows: with a batch size of 1, each row is a transaction', async () => {
    const cases = [
      { batchRows: 1, groups: [[1], [2], [3]] },
      { batchRows: 2, groups: [[1, 2], [3]] }, { batchRows: 3, groups: [[1, 2, 3]] }]
    for (const { batchRows, groups } of cases) {
      const { writer, sink } = await openWriter(folder, { options: { batchRows, inFlight: 1 } })
      const written = writer.write(batchOf([1, 2, 3]))
      await writer.flush()
      expect(await written).to.deep.equal({ outcome: 'stored', deadRows: 0 })
      expect(sink.transactions.map(batches => batches.flatMap(valuesOf))).to.deep.equal(groups)
      await writer.close()
    }
  })

  it('is told from its parts: stored with the dead letters of all, or released with the rest', async () => {
    const sink = new FakeSink()
    sink.isPoison = value => value % 2 === 0
    const { writer } = await openWriter(folder, { sink, options: { batchRows: 2 } })
    const written = writer.write(batchOf(range(0, 7)))
    await writer.flush()
    expect(await written).to.deep.equal({ outcome: 'stored', deadRows: 4 })
    expect(sink.stored.toSorted((a, b) => a - b)).to.deep.equal([1, 3, 5])
    await writer.close()
    const { writer: stopped } = await openWriter(folder, { sink, options: { batchRows: 1, drainMs: 0 } })
    sink.onStep = () => { throw new TransientError('away') }
    const error = stopped.write(batchOf([1, 3])).then(() => 'none', ({ code }) => code)
    await stopped.close()
    expect(await error).to.equal('SLUICE_WRITER_RELEASED')
    expect(stopped.state()).to.include({ pendingRows: 0, pendingBytes: 0 })
  })
})
