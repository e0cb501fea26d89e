import { expect } from 'chai'
import { batchOf, failureOf, rowOf, T0 } from './batches.js'

/** Of databases whose tables have columns. @param {import('./contract.js').Subject} subject */
export function tableTests (subject) {
  const { it, itWith, open, drop, rows, isTransient, store, refusal } = subject

  describe('tables', () => {
    itWith('fits', 'uses an existing table that fits', async () => {
      await store(rowOf({ count: ['int16', -3], force: ['float32', 0.5] }))
      expect(await rows('press')).to.deep.equal([{ id: 7, count: -3, force: 0.5, time: T0 }])
    })

    itWith('misfits', 'refuses a table whose column has another type, and reports which', async () => {
      const error = await refusal(batchOf([1.5]))
      expect(error.code).to.equal('SLUICE_SINK_TABLE_MISFIT')
      expect(error.message).to.match(/"press".*"force".*integer.*float64/i)
    })

    itWith('needs', 'refuses a table that requires a column which a batch lacks', async () => {
      expect((await refusal(batchOf([1]))).message).to.match(/"operator" must have a value/)
    })

    itWith('foreign', 'leaves alone a table with another purpose that a source is named like', async () => {
      const error = await refusal(batchOf([1], { tags: { line: 'A' } }))
      expect(error.code).to.equal('SLUICE_SINK_TABLE_MISFIT')
      expect(error.message).to.match(/"press".*Sluice did not make it.*Rename the source/)
      await store(batchOf([2], { source: 'oven' }))
      await failureOf(async () => subject.execute?.('SELECT line FROM press'))
    })

    itWith('foreign', 'stores in any table that is named as the sink\'s', async () => {
      const sink = await open({ table: 'press' })
      await sink.prepare([batchOf([1])])
      await sink.write([batchOf([1])])
      expect(await rows('press')).to.deep.equal([{ time: T0, source: 'press', force: 1 }])
    })

    itWith('view', 'refuses a view', async () => {
      expect((await refusal(batchOf([1]))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
    })

    it('refuses a field whose type changes, and keeps storing the others', async () => {
      await store(rowOf({ level: ['int32', 1] }))
      expect((await refusal(rowOf({ level: ['float64', 1.5] }))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
      expect((await refusal(rowOf({ level: ['string', '1'] }))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
      await store(rowOf({ level: ['int32', 2] }, { time: BigInt64Array.of(T0 + 1n) }))
      expect((await rows('press')).map(({ level }) => level)).to.deep.equal([1, 2])
    })

    it('creates a dropped table again', async () => {
      await store(batchOf([1]))
      await drop('press')
      expect(isTransient(await failureOf(() => store(batchOf([2]))))).to.equal(true)
      await store(batchOf([2]))
      expect(await rows('press')).to.have.length(1)
    })
  })
}
