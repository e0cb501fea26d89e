import { expect } from 'chai'
import fc from 'fast-check'
import { JsonReader } from '../../../gateway/messages/codecs/json-reader.js'

/** @param {string} text */
const read = text => new JsonReader(Buffer.from(text)).document()

/** What a function returns, or that it throws. @param {() => unknown} run */
function outcome (run) {
  try {
    return { value: run() }
  } catch {
    return { broken: true }
  }
}

describe('the reader of JSON', () => {
  it('reads what JSON.parse reads, and refuses what that refuses', () => {
    const pieces = ['{', '}', '[', ']', ',', ':', '"a"', '"', '\\', 'u00e9', '\\n', '\\x', '1', '-', '0', '.5', 'e3', 'E-2', '+', 'true',
      'false', 'null', 'nul', ' ', '\n', '\t', '\f', '\u0001', 'é', '"__proto__"', '\ufeff', '😀']
    const anyText = fc.oneof(
      fc.json(),
      fc.json({ stringUnit: 'binary' }).map(text => text.toWellFormed()),
      fc.json().map(text => JSON.stringify(JSON.parse(text), null, 2)),
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map(parts => parts.join('')),
      fc.tuple(fc.json(), fc.nat(), fc.constantFrom(...pieces)).map(([text, at, piece]) => {
        return text.slice(0, at % text.length) + piece + text.slice(at % text.length + 1)
      }).map(text => text.toWellFormed())
    )
    fc.assert(fc.property(anyText.filter(text => !/\d{16}/.test(text) && text[0] !== '\ufeff'), text => {
      expect(outcome(() => read(text))).to.deep.equal(outcome(() => JSON.parse(text)))
    }), { numRuns: 20_000, seed: 1 })
  })

  it('reads every number as JSON.parse does', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,24})?([eE][-+]?\d{1,3})?$/)
    const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => Object.is(value, -0) ? '-0' : String(value))
    fc.assert(fc.property(fc.oneof(digits, doubles), text => {
      const value = read(text)
      if (typeof value === 'bigint') expect(String(value)).to.equal(text)
      else expect(value).to.equal(JSON.parse(text))
    }), { numRuns: 20_000, seed: 1 })
  })

  it('reads whole numbers beyond 2^53 to the digit, and those that JavaScript has printed as what they were', () => {
    const limit = 2n ** 53n
    const values = [limit - 1n, limit, limit + 1n, -limit - 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 64n - 1n]
    expect(values.map(value => BigInt(/** @type {number} */ (read(String(value)))))).to.deep.equal(values)
    expect(read('9007199254740991')).to.equal(9007199254740991)
    expect(read(String(2 ** 66))).to.equal(2 ** 66)
    expect(read('[1e400,-1e400,123456789012345678901234567890]')).to.deep.equal([Infinity, -Infinity, 123456789012345678901234567890n])
  })

  it('reads a name that it has seen before, and another that is like it', () => {
    const text = '[{"abcd":1,"abxd":2,"é":3,"a\\u0062cd":4,"":5},{"abxd":1,"abcd":2}]'
    for (let i = 0; i < 3; i++) expect(read(text)).to.deep.equal(JSON.parse(text))
  })
})
