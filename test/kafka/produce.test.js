import { createRecordsBatch, NumericMap } from '@platformatic/kafka'
import { expect } from 'chai'
import fc from 'fast-check'
import { sizeOf, written } from '../../gateway/kafka/produce.js'
import { recordBatches } from '../../gateway/kafka/record-batch.js'

const ORIGIN = { producerId: 4_294_967_299n, producerEpoch: 7, sequence: 2_000_000_000 }

const blob = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ minLength: 8000, maxLength: 20_000 })).map(Buffer.from)
const records = fc.array(fc.record({
  topic: fc.constant('t'),
  partition: fc.constant(0),
  key: blob,
  value: fc.option(blob),
  headers: fc.array(fc.tuple(blob, blob), { maxLength: 2 }).map(headers => new Map(headers))
}), { minLength: 1, maxLength: 200 })

describe('Records that are produced', () => {
  it('are the bytes that the library writes', async () => {
    await fc.assert(fc.asyncProperty(records, async its => {
      const size = sizeOf(its)
      const memory = Buffer.alloc(size, 0xff) // it was used before
      const bytes = await written(its, memory, ORIGIN, 'none')
      expect(bytes.length).to.equal(size)
      const timestamp = bytes.readBigInt64BE(27)
      const sequences = new NumericMap([['t:0', ORIGIN.sequence]])
      const options = /** @type {any} */ ({ ...ORIGIN, sequences, transactionalId: 'x' })
      const messages = /** @type {any} */ (its.map(record => ({ ...record, timestamp })))
      expect(bytes.equals(createRecordsBatch(messages, options).buffer)).to.equal(true)
    }), { numRuns: 50 })
  })

  it('are read back in each way of compression', async () => {
    const value = Buffer.alloc(30_000, 'a')
    for (const compression of /** @type {const} */ (['none', 'gzip', 'snappy', 'lz4', 'zstd'])) {
      const its = [0, 1, 2].map(i => ({ topic: 't', partition: 0, key: Buffer.from(`k${i}`), value, headers: new Map() }))
      const [batch] = recordBatches(await written(its, Buffer.allocUnsafe(sizeOf(its)), ORIGIN, compression))
      expect(batch).to.include({ isSound: true, isTransactional: true, producerId: ORIGIN.producerId, next: 3n })
      expect(batch.messages().map(({ key, value: read }) => [String(key), read?.equals(value)])).to.deep.equal(
        [['k0', true], ['k1', true], ['k2', true]])
    }
  })
})
