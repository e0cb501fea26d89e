import { expect } from 'chai'
import fc from 'fast-check'
import { Bad, DATATYPE_OF, DATATYPES, WRITE } from '../../gateway/sparkplug/datatypes.js'

/** @param {string} name @param {any} value  of the metric @returns {unknown} what it reads as; of a bad one the reason */
function read (name, value) {
  const datatype = Array.from(DATATYPES.values()).find(type => type.name === name)
  const result = datatype?.read(value)
  return result instanceof Bad ? result.reason : result
}

const int = (/** @type {number} */ value) => ({ case: 'intValue', value: value >>> 0 })
const long = (/** @type {bigint} */ value) => ({ case: 'longValue', value: BigInt.asUintN(64, value) })
const bytes = (/** @type {string} */ hex) => ({ case: 'bytesValue', value: Buffer.from(hex, 'hex') })

describe('Sparkplug data types', () => {
  it('read negative numbers of any width', () => {
    for (const [name, bits] of /** @type {[string, number][]} */ ([['Int8', 8], ['Int16', 16], ['Int32', 32]])) {
      expect(read(name, int(2 ** bits - 5)), name).to.equal(-5)
      expect(read(name, int(-5)), name).to.equal(-5)
      expect(read(name, long(-5n)), name).to.equal(-5)
      expect(read(name, int(-(2 ** (bits - 1)))), name).to.equal(-(2 ** (bits - 1)))
      expect(read(name, long(BigInt(2 ** bits))), name).to.equal('out of range')
      expect(read(name, long(BigInt(-(2 ** (bits - 1)) - 1))), name).to.equal('out of range')
    }
    expect(read('Int64', long(-(2n ** 63n)))).to.equal(-(2n ** 63n))
    expect(read('Int64', int(4_000_000_000))).to.equal(4_000_000_000n)
  })

  it('read unsigned numbers up to the limit of a field', () => {
    expect(read('UInt8', int(255))).to.equal(255)
    expect(read('UInt8', int(256))).to.equal('out of range')
    expect(read('UInt16', long(65_535n))).to.equal(65_535)
    expect(read('UInt32', long(2n ** 32n - 1n))).to.equal(2n ** 32n - 1n)
    expect(read('UInt32', long(2n ** 32n))).to.equal('out of range')
    expect(read('UInt64', long(2n ** 63n - 1n))).to.equal(2n ** 63n - 1n)
    expect(read('UInt64', long(2n ** 63n))).to.equal('out of range: 9223372036854775808')
    expect(read('DateTime', long(2n ** 64n - 1n))).to.equal('out of range: 18446744073709551615')
    expect(read('DateTime', long(1_700_000_000_000n))).to.equal(1_700_000_000_000n)
  })

  it('report invalid values', () => {
    expect(read('Float', { case: 'floatValue', value: NaN })).to.equal('not a number')
    expect(read('Double', { case: 'doubleValue', value: -Infinity })).to.equal('infinite')
    expect(read('Double', { case: 'stringValue', value: '1' })).to.equal('not of its type')
    expect(read('Boolean', int(1))).to.equal('not of its type')
    expect(read('String', { case: undefined })).to.equal('not of its type')
    expect(read('Int16Array', bytes('010203'))).to.equal('not of its type')
    expect(read('BooleanArray', bytes('ffffffff'))).to.equal('not of its type')
    expect(read('StringArray', bytes('4142'))).to.equal('not of its type')
  })

  // Specification 3.0, chapter 6.4, as far as its examples agree with its text: those of Int8, Float and Double do not
  it('read the arrays of the specification\'s examples', () => {
    expect(read('Int8Array', bytes('e97b'))).to.deep.equal([-23, 123])
    expect(read('Int16Array', bytes('d08a3075'))).to.deep.equal([-30_000, 30_000])
    expect(read('Int32Array', bytes('fffffffffaafcb12'))).to.deep.equal([-1, 315_338_746])
    expect(read('Int64Array', bytes('ce0672ac189cbac4c4ba9c18ac7206ce'))).to.deep.equal([
      -4_270_929_666_821_191_986n,
      -3_601_064_768_563_266_876n
    ])
    expect(read('UInt8Array', bytes('17fa'))).to.deep.equal([23, 250])
    expect(read('UInt16Array', bytes('1e0088cc'))).to.deep.equal([30, 52_360])
    expect(read('UInt32Array', bytes('3400000049fb55c4'))).to.deep.equal([52n, 3_293_969_225n])
    const tooBig = new Bad('out of range: 16444743074749521625')
    expect(read('UInt64Array', bytes('3400000000000000d99e02d1b27637e4'))).to.deep.equal([52n, tooBig])
    expect(read('BooleanArray', bytes('0c00000034d0'))).to.deep.equal([
      false, false, true, true, false, true, false, false, true, true, false, true
    ])
    expect(read('StringArray', bytes('4142430068656c6c6f00'))).to.deep.equal(['ABC', 'hello'])
    expect(read('StringArray', bytes(''))).to.deep.equal([])
  })

  it('write every value of a field', () => {
    const values = {
      float64: fc.double({ noNaN: true, noDefaultInfinity: true }), float32: fc.float({ noNaN: true, noDefaultInfinity: true }),
      int64: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
      int32: fc.integer(), int16: fc.integer({ min: -32_768, max: 32_767 }), uint16: fc.nat(65_535), bool: fc.boolean(),
      string: fc.string({ unit: 'binary' }), bytes: fc.uint8Array()
    }
    for (const [field, arbitrary] of Object.entries(values)) {
      const type = /** @type {keyof typeof values} */ (field)
      fc.assert(fc.property(/** @type {fc.Arbitrary<any>} */ (arbitrary), value => {
        expect(DATATYPES.get(DATATYPE_OF[type])?.read(WRITE[type](value))).to.deep.equal(value)
      }), { seed: 4, numRuns: 200 })
    }
  })
})
