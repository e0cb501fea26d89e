import { deflateSync, gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { encodePayload } from '../../gateway/sparkplug/codec.js'
import { SparkplugHost } from '../../gateway/sparkplug/host.js'

const MS = 1_700_000_000_000n
const DOUBLE = 10

const whole = encodePayload({
  timestamp: MS,
  seq: 0n,
  metrics: [{ name: 'speed', datatype: DOUBLE, value: { case: 'doubleValue', value: 1.5 } }]
})

/** @param {Uint8Array|undefined} body @param {string} [algorithm] @param {object} [more] */
const compressed = (body, algorithm, more) => encodePayload({
  timestamp: MS,
  uuid: 'SPBV1.0_COMPRESSED',
  body,
  metrics: algorithm === undefined ? [] : [{ name: 'algorithm', datatype: 12, value: { case: 'stringValue', value: algorithm } }],
  ...more
})

describe('A compressed Sparkplug payload', () => {
  /** @param {Uint8Array} bytes */
  const birth = bytes => new SparkplugHost({ requestRebirth () {}, now: () => MS * 1_000_000n }).receive('spBv1.0/plant/NBIRTH/cell', bytes)
  const reasonOf = (/** @type {Uint8Array} */ bytes) => birth(bytes).refused[0].reason

  for (const [name, bytes] of /** @type {const} */ ([
    ['GZIP', compressed(gzipSync(whole), 'GZIP')],
    ['DEFLATE', compressed(deflateSync(whole), 'DEFLATE')],
    ['DEFLATE, which it does not name', compressed(deflateSync(whole))]
  ])) {
    it(`is read with ${name}`, () => {
      const { batches, refused } = birth(bytes)
      expect(refused).to.deep.equal([])
      expect(batches.flatMap(batch => batch.toObjects())).to.deep.equal([{ time: MS * 1_000_000n, speed: 1.5 }])
    })
  }

  it('has the sequence number of the payload around it, where it has none', () => {
    const metrics = [{ name: 'speed', datatype: DOUBLE, value: { case: /** @type {const} */ ('doubleValue'), value: 2 } }]
    const host = new SparkplugHost({ requestRebirth () {}, now: () => MS * 1_000_000n })
    host.receive('spBv1.0/plant/NBIRTH/cell', compressed(gzipSync(whole), 'GZIP', { seq: 0n }))
    host.receive('spBv1.0/plant/NDATA/cell', compressed(gzipSync(encodePayload({ timestamp: MS, metrics })), 'GZIP', { seq: 1n }))
    expect(host.counters.gaps).to.equal(0)
  })

  it('is refused where it would become far more than it is', () => {
    expect(reasonOf(compressed(gzipSync(Buffer.alloc(100 * 2 ** 20)), 'GZIP'))).to.match(/SLUICE_MESSAGE_TOO_LARGE.*16 MiB/)
    const metrics = Buffer.from('1200'.repeat(300_000), 'hex')
    expect(reasonOf(compressed(gzipSync(metrics), 'GZIP'))).to.match(/SLUICE_MESSAGE_TOO_LARGE.*metrics/)
    expect(reasonOf(compressed(gzipSync(compressed(gzipSync(whole))), 'GZIP'))).to.match(/SLUICE_SPARKPLUG.*compressed twice/)
  })

  it('is refused where it cannot be read, as it is', () => {
    for (const [bytes, text] of /** @type {[Buffer, RegExp][]} */ ([
      [compressed(undefined), /nothing in it/],
      [compressed(Buffer.from('nonsense'), 'GZIP'), /cannot be decompressed/],
      [compressed(gzipSync(whole).subarray(0, 20), 'GZIP'), /cannot be decompressed/],
      [compressed(gzipSync(whole), 'LZ4'), /by "LZ4"/]
    ])) {
      const { refused: [{ reason, value, index }] } = birth(bytes)
      expect(reason).to.match(/^SLUICE_SPARKPLUG/).and.match(text)
      expect(value).to.deep.equal(bytes)
      expect(index).to.equal(-1)
    }
  })
})
