import { expect } from 'chai'
import { BSON } from 'mongodb'
import { Batch } from '../../gateway/batch/batch.js'
import { Chunks } from '../../gateway/databases/mongodb/chunks.js'
import { narrowDocuments, wideDocuments } from '../../gateway/databases/mongodb/documents.js'
import { intervalDocuments } from '../../gateway/databases/mongodb/intervals.js'
import { keysOf } from '../../gateway/databases/mongodb/names.js'
import { batchOf, rowOf, T0 } from './contract/batches.js'

/** What a MongoDB server is sent, read by the driver. */
describe('MongoDB documents', () => {
  const key = Buffer.alloc(16, 7)

  /** @param {Batch} batch @param {'wide'|'narrow'|'document'|'timeseries'} [layout] */
  const sent = (batch, layout = 'wide') => {
    const source = { batch, key, keys: keysOf(batch, layout, { collection: 'press', withSource: false }), finiteOnly: false }
    const documents = layout === 'narrow'
      ? narrowDocuments(source)
      : layout === 'document' ? intervalDocuments(source, { intervalNs: 10_000_000_000n }) : wideDocuments(source)
    const messages = [...new Chunks().messages([{ batch, rest: batch, documents }])].map(({ bytes }) => documentsIn(bytes))
    return messages.flat().map(({ _id, ...document }, i) => {
      expect(Buffer.from(_id).subarray(0, 16)).to.deep.equal(key)
      expect(Buffer.from(_id)).to.deep.equal(documents.idOf(i))
      return document
    })
  }

  it('hold NaN and the infinities, as MongoDB can', () => {
    expect(sent(batchOf([NaN, Infinity, -Infinity, -0])).map(({ force }) => force)).to.deep.equal([NaN, Infinity, -Infinity, -0])
    expect(sent(batchOf([NaN, Infinity]), 'narrow').map(({ value }) => value)).to.deep.equal([NaN, Infinity])
    const [{ measurements }] = sent(batchOf([NaN, Infinity]), 'document')
    expect(measurements.map((/** @type {any} */ { m }) => m)).to.deep.equal([[NaN], [Infinity]])
  })

  it('hold every type at its extremes, tags and keys of all kinds', () => {
    const odd = 'a "b" ü 🚀'
    expect(sent(rowOf({
      [odd]: ['float64', Number.MIN_VALUE],
      most: ['int64', 2n ** 63n - 1n],
      least: ['int64', -(2n ** 63n)],
      i: ['int32', -2147483648],
      u: ['uint16', 65535],
      no: ['bool', 0],
      text: ['string', 'a\0ü'],
      none: ['string', undefined],
      bytes: ['bytes', Uint8Array.of(0, 255)]
    }, { tags: { line: 'Süd', __proto__x: '1' } }))).to.deep.equal([{
      time: new Date(1_700_000_000_123),
      time_ns: T0,
      line: 'Süd',
      __proto__x: '1',
      [odd]: Number.MIN_VALUE,
      most: 2n ** 63n - 1n,
      least: -(2n ** 63n),
      i: -2147483648,
      u: 65535,
      no: false,
      text: 'a\0ü',
      bytes: Buffer.of(0, 255)
    }])
  })

  it('round milliseconds down over the whole range of time', () => {
    const time = [-(2n ** 63n), -1_000_001n, -1_000_000n, -1n, 0n, 999_999n, T0, 2n ** 63n - 1n]
    const milliseconds = time.map(ns => Number((ns - ((ns % 1_000_000n) + 1_000_000n) % 1_000_000n) / 1_000_000n))
    const batch = new Batch({ source: 'press', time: BigInt64Array.from(time) })
    expect(sent(batch)).to.deep.equal(time.map((time_ns, i) => ({ time: new Date(milliseconds[i]), time_ns })))
  })

  it('of a time-series collection have separate metadata', () => {
    expect(sent(batchOf([1], { tags: { line: '1' } }), 'timeseries')).to.deep.equal([
      { time: new Date(1_700_000_000_123), time_ns: T0, meta: { source: 'press', line: '1' }, force: 1 }
    ])
  })

  it('count nanoseconds within long intervals exactly', () => {
    const [document] = sent(batchOf([1, 2], { time: BigInt64Array.of(0n, 9_999_999_999n) }), 'document')
    expect(document.measurements).to.deep.equal([{ ns: 0n, m: [1] }, { ns: 9_999_999_999n, m: [2] }])
    expect(document).to.include({ size: 2, time_ns: 0n })
    expect(document.fields).to.deep.equal(['force'])
  })

  it('are sent in messages that a server accepts', () => {
    const batch = new Batch({ source: 'press', time: new BigInt64Array(250_001) })
    const keys = keysOf(batch, 'wide', { collection: 'press', withSource: false })
    const documents = wideDocuments({ batch, key, keys, finiteOnly: false })
    const lengths = Array.from(new Chunks().messages([{ batch, rest: batch, documents }]), message => message.documents.length)
    expect(lengths).to.deep.equal([100_000, 100_000, 50_001])

    const note = 'x'.repeat(5_000_000)
    const large = new Batch({
      source: 'press', time: new BigInt64Array(9), fields: [{ name: 'note', type: 'string' }], columns: [Array(9).fill(note)]
    })
    const largeKeys = keysOf(large, 'wide', { collection: 'press', withSource: false })
    const several = wideDocuments({ batch: large, key, keys: largeKeys, finiteOnly: false })
    const messages = new Chunks().messages([{ batch: large, rest: large, documents: several }])
    const sizes = Array.from(messages, ({ bytes }) => bytes.length)
    expect(sizes).to.have.length(3)
    expect(Math.max(...sizes)).to.be.below(48_000_000)
  })
})

/** @param {Buffer} bytes @returns {any[]} */
function documentsIn (bytes) {
  const documents = []
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
    documents.push(BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at)), { useBigInt64: true, promoteBuffers: true }))
  }
  return documents
}
