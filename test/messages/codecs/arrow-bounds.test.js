import zlib from 'node:zlib'
import { expect } from 'chai'
import fc from 'fast-check'
import { SluiceError } from '../../../gateway/base/errors.js'
import { MAX_BYTES } from '../../../gateway/messages/bounds.js'
import { roomToUnpack, unpacker } from '../../../gateway/messages/codecs/arrow/compression.js'
import { unpackLz4 } from '../../../gateway/messages/codecs/arrow/lz4.js'
import { views } from '../../../gateway/messages/codecs/arrow/views.js'

/** A frame of these blocks. @param {Buffer[]} blocks */
const frame = (...blocks) => Buffer.concat([
  Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]),
  ...blocks.flatMap(block => [Buffer.from(Uint32Array.of(block.length).buffer), block]),
  Buffer.alloc(4)
])

/** A compressed buffer that says how long it becomes. @param {bigint} length @param {Buffer} packed */
const packedBuffer = (length, packed) => Buffer.concat([Buffer.from(BigInt64Array.of(length).buffer), packed])

/** @param {number} codec */
const compression = codec => /** @type {any} */ ({ uint8: (/** @type {number} */ slot) => slot === 0 ? codec : 0 })

describe('LZ4', () => {
  it('is unpacked: literals, repetitions that overlap, and those of an earlier block', () => {
    const text = Buffer.from([0x14, 0x61, 1, 0, 0x10, 0x62]) // "a", then eight bytes from one before, then "b"
    expect(unpackLz4(frame(text), 10).toString()).to.equal('aaaaaaaaab')
    const again = Buffer.from([0x00, 10, 0, 0x10, 0x63]) // four bytes from ten before, then "c"
    expect(unpackLz4(frame(text, again), 15).toString()).to.equal('aaaaaaaaabaaaac')
  })

  it('is refused where it is something else, or claims more than it can hold, before that is taken', () => {
    const text = Buffer.from([0x14, 0x61, 1, 0, 0x10, 0x62])
    for (const [bytes, length] of /** @type {[Buffer, number][]} */ ([
      [frame(text), 9], [frame(text), 11], [frame(text).subarray(0, 12), 10], [Buffer.from('text'), 4], [frame(text), 2 ** 40],
      [frame(Buffer.from([0x04, 1, 0])), 8], [frame(Buffer.from([0x14, 0x61, 2, 0])), 9], [frame(Buffer.from([0xf0, 0xff])), 10]
    ])) expect(() => unpackLz4(bytes, length)).to.throw(SluiceError).with.property('code', 'SLUICE_CODEC_ARROW')
  })

  it('is unpacked or refused, whatever its bytes are', () => {
    fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 3 }), fc.nat(200), (blocks, length) => {
      try {
        expect(unpackLz4(frame(...blocks.map(block => Buffer.from(block))), length)).to.have.length(length)
      } catch (error) {
        expect(error).to.be.instanceOf(SluiceError)
      }
    }), { numRuns: 10_000, seed: 1 })
  })
})

describe('a compressed record batch', () => {
  it('is refused where it would become more than a message may have, over all its buffers', () => {
    const unpack = unpacker(compression(1), { bytes: 1000 })
    const packed = packedBuffer(600n, zlib.zstdCompressSync(Buffer.alloc(600)))
    expect(unpack?.(packed)).to.have.length(600)
    for (const more of [packed, packedBuffer(-5n, packed)]) {
      expect(() => unpack?.(more)).to.throw('its record batches are far smaller').with.property('code', 'SLUICE_MESSAGE_TOO_LARGE')
    }
    expect([100, 2 ** 20, 2 ** 30].map(roomToUnpack)).to.deep.equal([2 ** 23, 2 ** 24, MAX_BYTES])
  })

  it('is refused where a buffer is not as long as it says', () => {
    const unpack = unpacker(compression(1), { bytes: 1000 })
    const packed = zlib.zstdCompressSync(Buffer.alloc(600))
    for (const length of [5n, 601n]) expect(() => unpack?.(packedBuffer(length, packed))).to.throw()
    expect(() => unpack?.(Buffer.alloc(4))).to.throw('a compressed buffer is cut short')
    expect(() => unpacker(compression(7), { bytes: 1000 })).to.throw('compressed by method 7')
  })

  it('may have buffers as they were, and empty ones', () => {
    const unpack = unpacker(compression(0), { bytes: 0 })
    expect(unpack?.(packedBuffer(-1n, Buffer.from('abc'))).toString()).to.equal('abc')
    expect(unpack?.(packedBuffer(0n, Buffer.alloc(0)))).to.have.length(0)
  })
})

describe('a column of views', () => {
  /** @param {number} rows @param {number} length @param {Buffer} data */
  const bodyOf = (rows, length, data) => {
    const view = Buffer.alloc(16)
    view.writeInt32LE(length)
    const buffers = [Buffer.concat(new Array(rows).fill(view)), data]
    return /** @type {any} */ ({ variadic: () => 1, buffer: () => buffers.shift() })
  }
  const cut = (/** @type {Buffer} */ data, /** @type {number} */ from, /** @type {number} */ to) => data.toString('utf8', from, to)

  it('may have the same text often, but not for gigabytes', () => {
    const data = Buffer.alloc(1000, 'x')
    const read = (/** @type {number} */ bytes) => views(cut, '', { bytes })(bodyOf(100, 1000, data), 100, null)
    expect(read(99_000)).to.deep.equal(new Array(100).fill('x'.repeat(1000)))
    expect(() => read(98_000)).to.throw('its views stand for over').with.property('code', 'SLUICE_MESSAGE_TOO_LARGE')
  })

  it('is refused where a text is not there', () => {
    for (const length of [-1, 1001]) {
      expect(() => views(cut, '', { bytes: 1 })(bodyOf(1, length, Buffer.alloc(1000)), 1, null)).to.throw('that are not there')
    }
  })
})
