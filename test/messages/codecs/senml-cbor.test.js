import { expect } from 'chai'
import fc from 'fast-check'
import { MAX_NESTING, MAX_RECORDS } from '../../../gateway/messages/bounds.js'
import { CborReader } from '../../../gateway/messages/codecs/cbor.js'
import { cbor } from './cbor.js'
import { decode, plain } from './decode.js'

/** @param {string} hex */
const read = hex => new CborReader(Buffer.from(hex.replaceAll(' ', ''), 'hex')).document()

/** @param {Uint8Array} bytes @param {object} [options] */
const reasons = (bytes, options) => decode(bytes, options).refused.map(({ reason }) => reason)

/** @param {[number|string, unknown][][]} records */
const pack = (...records) => cbor(records.map(record => new Map(record)))

const TYPED = { contentType: 'application/senml+cbor' }

/** RFC 8428, section 6. */
const EXAMPLE = Buffer.from(
  '87a721781b75726e3a6465763a6f773a3130653230373361303130383030363a22fb41d303a15b00106223614120050067766f6c746167650161560' +
  '2fb405e066666666666a3006763757272656e74062402fb3ff3333333333333a3006763757272656e74062302fb3ff4cccccccccccda3006763757272656e' +
  '74062202fb3ff6666666666666a3006763757272656e74062102f93e00a3006763757272656e74062002fb3ff999999999999aa3006763757272656e740600' +
  '02fb3ffb333333333333', 'hex'
)

describe('SenML in CBOR', () => {
  it('is what the same pack in JSON is (RFC 8428, section 6)', () => {
    for (const options of [{}, TYPED]) {
      const { batches, refused } = decode(EXAMPLE, options)
      expect(refused).to.deep.equal([])
      expect(batches.map(plain)).to.deep.equal([{
        source: 'plant',
        tags: { device: 'urn:dev:ow:10e2073a0108006' },
        units: ['V', 'A'],
        rows: [
          { time: 1276020076001000000n, voltage: 120.1, current: 1.7 },
          ...[1.2, 1.3, 1.4, 1.5, 1.6].map((current, i) => ({ time: 1276020071001000000n + BigInt(i) * 1_000_000_000n, current }))
        ]
      }])
    }
  })

  it('has texts, truth values, bytes and integers of 64 bits', () => {
    const { batches: [batch], refused } = decode(pack(
      [[-2, 'dev:'], [-3, 1_276_000_000], [0, 'a'], [2, 2n ** 53n + 1n]], [[0, 'b'], [3, 'x']], [[0, 'c'], [4, true]],
      [[0, 'd'], [8, Buffer.from([1, 2])]], [[0, 'e'], [2, -5], [99, 'ignored'], ['colour', ['red']]]
    ))
    expect(refused).to.deep.equal([])
    expect(batch.toObjects()).to.deep.equal([
      { time: 1_276_000_000_000_000_000n, a: 2n ** 53n + 1n, b: 'x', c: true, d: new Uint8Array([1, 2]), e: -5 }
    ])
  })

  it('is refused as a whole where it has a label that must be understood', () => {
    expect(reasons(pack([[-2, 'dev:'], [0, 'a'], [2, 1], ['colour_', 1]]))).to.deep.equal([
      'the label "colour_" must be understood, but is not known'
    ])
  })

  it('is not taken for anything else, nor anything else for it', () => {
    expect(reasons(Buffer.from([0x81, 0xa1, 0xff]))).to.deep.equal(['the message is neither an Arrow stream nor text'])
    expect(reasons(pack([['x', 1]]))).to.deep.equal(['the message is neither an Arrow stream nor text'])
    expect(reasons(EXAMPLE.subarray(0, 50), TYPED)[0]).to.match(/^it is not SenML in CBOR: it is cut short at byte 50$/)
    expect(reasons(Buffer.from('text'), TYPED)[0]).to.match(/^it is not SenML in CBOR: /)
  })

  it('is refused where it would become far more than it is', () => {
    const many = Buffer.concat([Buffer.from([0x9f]), Buffer.alloc(2 * MAX_RECORDS, 0xa0), Buffer.from([0xff])])
    expect(reasons(many, TYPED)[0]).to.include(`it has over ${MAX_RECORDS} arrays and maps`)
    expect(reasons(Buffer.alloc(MAX_NESTING + 2, 0x81), TYPED)[0]).to.include('nested more than')
    expect(reasons(Buffer.from('9affffffffa0', 'hex'), TYPED)[0]).to.include('it is cut short')
    expect(reasons(Buffer.from('9bffffffffffffffffa0', 'hex'), TYPED)[0]).to.include('it is cut short')
  })
})

describe('the reader of CBOR', () => {
  it('reads the examples of RFC 8949, appendix A', () => {
    for (const [hex, value] of /** @type {[string, unknown][]} */ ([
      ['00', 0], ['17', 23], ['1818', 24], ['1903e8', 1000], ['1a000f4240', 1000000], ['1b000000e8d4a51000', 1000000000000],
      ['1bffffffffffffffff', 18446744073709551615n], ['c249010000000000000000', 18446744073709551616n],
      ['3bffffffffffffffff', -18446744073709551616n],
      ['20', -1], ['3903e7', -1000], ['f90000', 0], ['f98000', -0], ['f93c00', 1], ['fb3ff199999999999a', 1.1], ['f97bff', 65504],
      ['fa47c35000', 100000], ['f90001', 5.960464477539063e-8], ['f97c00', Infinity], ['f4', false], ['f5', true], ['f6', null],
      ['c48221196ab3', 273.15], ['4401020304', new Uint8Array([1, 2, 3, 4])], ['6161', 'a'], ['62c3bc', 'ü'], ['80', []],
      ['83010203', [1, 2, 3]], ['a201020304', new Map([[1, 2], [3, 4]])], ['5f42010243030405ff', new Uint8Array([1, 2, 3, 4, 5])],
      ['7f657374726561646d696e67ff', 'streaming'],
      ['9f018202039f0405ffff', [1, [2, 3], [4, 5]]], ['bf61610161629f0203ffff', new Map(/** @type {any} */ ([['a', 1], ['b', [2, 3]]]))]
    ])) expect(read(hex), hex).to.deep.equal(value)
  })

  it('refuses what is cut short or no CBOR, with a reason', () => {
    for (const hex of [
      '', '18', '1b00', '62c3', '61ff', '8201', 'a101', 'ff', '81ff', 'a1ff01', 'bf01ff', '1c', 'f8ff', '5f01ff', '5f5fffff', '0000', 'c1'
    ]) {
      expect(() => read(hex), hex).to.throw(Error).with.property('message').that.matches(/^(its?|an?|there) /)
    }
  })

  it('never fails otherwise', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
      const { batches, refused } = decode(bytes, TYPED)
      expect(batches.length + refused.length).to.be.above(0)
    }), { numRuns: 20_000, seed: 1 })
  })
})
