import zlib from 'node:zlib'
import { createRecordsBatch } from '@platformatic/kafka'
import { lz4Compress, snappyCompress } from '@platformatic/wasm-utils'
import { expect } from 'chai'
import fc from 'fast-check'
import { decompress } from '../../gateway/kafka/decompress.js'
import { RecordBatch, recordBatches } from '../../gateway/kafka/record-batch.js'

const ALGORITHMS = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 }

/** @param {object[]} messages @param {any} [compression] */
const batchOf = (messages, compression = 'none') => {
  return createRecordsBatch(/** @type {any} */ (messages.map(each => ({ topic: 't', ...each }))), { compression }).buffer
}
const bytesOf = (/** @type {string} */ text) => Buffer.from(text)

describe('A record batch of Kafka', () => {
  it('is read as it was written, in each way of compression', () => {
    const headers = new Map([[bytesOf('h'), bytesOf('v')]])
    const messages = [
      { key: bytesOf('k'), value: bytesOf('one'.repeat(1000)), headers, timestamp: 1_700_000_000_000n },
      { key: null, value: null, timestamp: 1_700_000_900_000n },
      { key: null, value: Buffer.alloc(0), timestamp: 1_699_999_999_000n }
    ]
    for (const compression of Object.keys(ALGORITHMS)) {
      const [batch] = recordBatches(batchOf(messages, compression))
      expect(batch).to.include({ first: 0n, next: 3n, isSound: true, isControl: false, isTransactional: false })
      const read = batch.messages().map(({ offset, key, value, timestamp, headers: its }) => {
        return [offset, key && String(key), value && String(value), timestamp, its.flat().map(String)]
      })
      expect(read).to.deep.equal([
        [0n, 'k', 'one'.repeat(1000), 1_700_000_000_000n, ['h', 'v']],
        [1n, null, null, 1_700_000_900_000n, []],
        [2n, null, '', 1_699_999_999_000n, []]
      ])
    }
  })

  it('has the time of the broker where the topic says so', () => {
    const bytes = Buffer.from(batchOf([{ value: bytesOf('x'), timestamp: 5n }]))
    bytes.writeInt16BE(0x08, 21)
    bytes.writeBigInt64BE(99n, 35)
    const batch = new RecordBatch(bytes)
    Object.defineProperty(batch, 'isSound', { value: true })
    expect(batch.messages()[0].timestamp).to.equal(99n)
  })

  it('is refused where a bit of it is another', () => {
    const bytes = batchOf([{ value: bytesOf('some text') }])
    for (let at = 21; at < bytes.length; at++) {
      const damaged = Buffer.from(bytes)
      damaged[at] ^= 1
      const [batch] = recordBatches(damaged)
      expect(batch.isSound).to.equal(false)
      expect(() => batch.messages()).to.throw('checksum')
    }
  })

  it('is given when it is whole, and none after what is no batch', () => {
    const one = batchOf([{ value: bytesOf('x') }])
    expect([...recordBatches(Buffer.concat([one, one.subarray(0, one.length - 1)]))]).to.have.length(1)
    expect([...recordBatches(Buffer.concat([one, Buffer.alloc(100)]))]).to.have.length(1)
    expect(() => [...recordBatches(Buffer.alloc(100))]).to.throw('offset 0')
  })

  it('never does more than throw, whatever its records are', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 0, max: 7 }), fc.integer(), (records, attributes, count) => {
      const bytes = Buffer.concat([Buffer.alloc(61), records])
      bytes.writeInt32BE(bytes.length - 12, 8)
      bytes[16] = 2
      bytes.writeInt16BE(attributes, 21)
      bytes.writeInt32BE(count, 57)
      const [batch] = recordBatches(bytes)
      Object.defineProperty(batch, 'isSound', { value: true })
      try {
        batch.messages()
      } catch (error) {
        expect(error).to.be.an('error')
      }
    }), { numRuns: 2000 })
  })
})

describe('Decompressing records', () => {
  const bombs = {
    gzip: () => zlib.gzipSync(Buffer.alloc(2 ** 27)),
    snappy: () => snappyCompress(Buffer.alloc(2 ** 27)),
    lz4: () => lz4Compress(Buffer.alloc(2 ** 27)),
    zstd: () => zlib.zstdCompressSync(Buffer.alloc(2 ** 27))
  }
  for (const [name, bomb] of Object.entries(bombs)) {
    it(`takes no memory for what ${name} makes too much of`, () => {
      const bytes = bomb()
      expect(bytes.length).to.be.below(2 ** 23)
      const before = process.memoryUsage().rss
      expect(() => decompress(ALGORITHMS[/** @type {keyof typeof ALGORITHMS} */ (name)], bytes)).to.throw('once they are decompressed')
      expect(process.memoryUsage().rss - before).to.be.below(2 ** 27)
    })
  }

  it('knows what blocks of lz4 and snappy stand for, whatever is in them', () => {
    const repeated = fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 70_000 }), fc.integer({ min: 1, max: 40 }))
    fc.assert(fc.property(fc.array(repeated, { maxLength: 5 }), parts => {
      const bytes = Buffer.concat(parts.flatMap(([part, times]) => Array.from({ length: times }, () => Buffer.from(part))))
      expect(decompress(ALGORITHMS.lz4, lz4Compress(bytes)).equals(bytes)).to.equal(true)
      expect(decompress(ALGORITHMS.snappy, snappyCompress(bytes)).equals(bytes)).to.equal(true)
    }), { numRuns: 50 })
  })

  it('refuses what is cut short, and a way that nobody knows', () => {
    const ways = { gzip: zlib.gzipSync, snappy: snappyCompress, lz4: lz4Compress, zstd: zlib.zstdCompressSync }
    for (const [name, compress] of Object.entries(ways)) {
      const bytes = compress(bytesOf('abc'.repeat(100)))
      const algorithm = ALGORITHMS[/** @type {keyof typeof ALGORITHMS} */ (name)]
      expect(() => decompress(algorithm, bytes.subarray(0, bytes.length - 5)), name).to.throw('decompressed')
    }
    expect(() => decompress(7, Buffer.alloc(8))).to.throw('not known')
  })
})
