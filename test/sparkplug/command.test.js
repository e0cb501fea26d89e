import { expect } from 'chai'
import fc from 'fast-check'
import { decodePayload, given } from '../../gateway/sparkplug/codec.js'
import { Commander, schema } from '../../gateway/sparkplug/command.js'
import { DATATYPES } from '../../gateway/sparkplug/datatypes.js'

const MS = 1_700_000_000_000n
const BASE = { allowed: true, groupId: 'plant', nodeId: 'line', deviceId: 'press' }

describe('A Sparkplug command', () => {
  /** @param {object[]} metrics @param {object} [options] */
  const commander = (metrics, options) => new Commander({ ...BASE, ...options, metrics }, () => MS * 1_000_000n)
  /** @param {string} type @param {unknown} value @param {object} [limits] */
  const write = (type, value, limits) => commander([{ name: 'x', type, ...limits }]).command({ x: value })

  it('has the named metrics of a message, with their types and the time', () => {
    const { topic, payload } = commander([{ name: 'setpoint' }, { name: 'on', type: 'Boolean' }]).command({ setpoint: 20.5, on: true })
    expect(topic).to.equal('spBv1.0/plant/DCMD/line/press')
    const decoded = decodePayload(payload)
    expect(decoded.timestamp).to.equal(MS)
    expect(given(decoded, 'seq')).to.equal(undefined)
    expect(decoded.metrics.map(({ name, datatype, timestamp, value: { value } }) => [name, datatype, timestamp, value])).to.deep.equal([
      ['setpoint', 10, MS, 20.5],
      ['on', 11, MS, true]
    ])
  })

  it('goes to the edge node itself where no device is named', () => {
    expect(commander([{ name: 'x' }], { deviceId: '' }).command({ x: 1 }).topic).to.equal('spBv1.0/plant/NCMD/line')
  })

  it('is read as it was written, in every type', () => {
    const signed = (/** @type {bigint} */ bits) => fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n })
    const unsigned = (/** @type {bigint} */ bits) => fc.bigInt({ min: 0n, max: 2n ** bits - 1n })
    /** @type {Record<string, fc.Arbitrary<any>>} */
    const values = {
      Boolean: fc.boolean(),
      Int8: signed(8n), Int16: signed(16n), Int32: signed(32n), Int64: signed(64n),
      UInt8: unsigned(8n), UInt16: unsigned(16n), UInt32: unsigned(32n), UInt64: unsigned(63n), DateTime: unsigned(63n),
      Float: fc.float({ noNaN: true, noDefaultInfinity: true }), Double: fc.double({ noNaN: true, noDefaultInfinity: true }),
      String: fc.string(), Text: fc.string()
    }
    expect(Object.keys(values)).to.have.members(schema.properties.metrics.items.properties.type.enum)
    for (const [type, arbitrary] of Object.entries(values)) {
      fc.assert(fc.property(arbitrary, value => {
        const [metric] = decodePayload(write(type, value).payload).metrics
        const datatype = DATATYPES.get(metric.datatype)
        expect(datatype?.name).to.equal(type)
        const read = datatype?.read(metric.value)
        expect(typeof value === 'bigint' ? BigInt(/** @type {number} */ (read)) : read).to.equal(value)
      }), { numRuns: 200, seed: 4 })
    }
    expect(decodePayload(write('UInt64', '18446744073709551615').payload).metrics[0].value.value).to.equal(2n ** 64n - 1n)
  })

  it('is refused as a whole where one value is not allowed', () => {
    const cases = /** @type {[string, unknown, RegExp, object?][]} */ ([
      ['Int8', 128, /"x" must be between -128 and 127/], ['UInt8', -1, /between 0 and 255/], ['Int32', 1.5, /a whole number/],
      ['UInt64', 2 ** 60, /digits/], ['Int16', '7.0', /a whole number/], ['Float', 1e39, /out of range/], ['Double', NaN, /a number/],
      ['Double', '1', /a number/], ['Boolean', 1, /true or false/], ['String', 1, /text/],
      ['Double', 81, /"x" must be at most 80; 81 is more/, { min: 0, max: 80 }], ['Int64', '-5', /at least 0; -5 is less/, { min: 0 }]
    ])
    for (const [type, value, text, limits] of cases) {
      expect(() => write(type, value, limits), `${type} ${value}`).to.throw(text).with.property('code', 'SLUICE_SPARKPLUG_WRITE')
    }
    const both = commander([{ name: 'a' }, { name: 'b' }])
    expect(() => both.command({ a: 1, b: 'x', c: 2 })).to.throw('"b" must be a number; "c" is not a metric of this node.')
    for (const payload of [null, 7, [], {}, 'a']) expect(() => both.command(payload)).to.throw('must be an object of values by metric')
  })

  it('is refused until writing is allowed', () => {
    expect(() => commander([{ name: 'x' }], { allowed: false }).command({ x: 1 })).to.throw('may not write')
      .with.property('code', 'SLUICE_SPARKPLUG_WRITE_OFF')
  })
})
