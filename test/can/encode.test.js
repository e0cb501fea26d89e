import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { readDbcFile } from '../../gateway/can/dbc/file.js'
import { parseDbc } from '../../gateway/can/dbc/parser.js'
import { Decoder } from '../../gateway/can/dbc/decoder.js'
import { encodeMessage, frameOf } from '../../gateway/can/dbc/encoder.js'
import { anySignal, valuesOf } from './random-values.js'

/** A message 100 with these signals. @param {...string} lines  signals, then other statements */
function message (...lines) {
  const statements = lines.map(line => /^[A-Z]+_/.test(line) ? line : ` SG_ ${line}`)
  const [first, ...others] = parseDbc(['BO_ 100 M: 8 X', ...statements].join('\n')).messages
  expect(others).to.deep.equal([])
  return first
}

/** @param {import('../../gateway/can/dbc/message.js').Message} whole @param {Record<string, unknown>} values */
const hex = (whole, values) => Buffer.from(encodeMessage(whole, values)).toString('hex')

describe('encoding a message', () => {
  it('is the inverse of decoding: bit orders, signs, factor and offset', () => {
    const mixed = message('a : 0|12@1+ (1,0)', 'b : 23|12@0- (1,0)', 'c : 32|8@1- (0.5,10)')
    expect(hex(mixed, { a: 0x345, b: -2, c: 9.5 })).to.equal('4503ffe0ff000000')
    expect(hex(mixed, {})).to.equal('0000000000000000')
  })

  it('takes numbers, bigints, booleans, digits and names', () => {
    const gear = message('gear : 0|8@1+ (1,0) [0|0] "" X', 'VAL_ 100 gear 3 "third" 300 "too large" ;')
    for (const value of [3, 3n, '3', ' 3 ', 'third']) expect(hex(gear, { gear: value }).slice(0, 2), String(value)).to.equal('03')
    expect(hex(gear, { gear: true }).slice(0, 2)).to.equal('01')
    expect(() => encodeMessage(gear, { gear: 'fourth' }))
      .to.throw('Signal gear cannot be fourth: it takes 0 to 255 or the name of a value.').with.property('code', 'SLUICE_CAN_ENCODE')
    expect(() => encodeMessage(gear, { gear: 'too large' })).to.throw('cannot be too large')
  })

  it('rounds to what the signal can have', () => {
    const coarse = message('t : 0|8@1+ (0.5,-40)')
    expect(hex(coarse, { t: 20.2 }).slice(0, 2)).to.equal('78')
    expect(hex(coarse, { t: -40.1 }).slice(0, 2)).to.equal('00')
  })

  it('keeps all 64 bits', () => {
    expect(hex(message('u : 0|64@1+ (1,0)'), { u: 2n ** 64n - 1n })).to.equal('ffffffffffffffff')
    expect(hex(message('u : 7|64@0+ (1,0)'), { u: '18446744073709551614' })).to.equal('fffffffffffffffe')
    expect(hex(message('s : 0|64@1- (-3,1)'), { s: 4n })).to.equal('ffffffffffffffff')
    expect(hex(message('h : 0|64@1+ (0.5,0)'), { h: 2 ** 63 })).to.equal('ffffffffffffffff')
  })

  it('writes floats', () => {
    const floats = message('f : 0|32@1- (1,0)', 'g : 32|32@1- (2,1)', 'SIG_VALTYPE_ 100 f : 1;', 'SIG_VALTYPE_ 100 g : 1;')
    expect(hex(floats, { f: 1.5, g: -3 })).to.equal('0000c03f000000c0')
    const double = message('h : 7|64@0- (1,0)', 'SIG_VALTYPE_ 100 h : 2;')
    expect(hex(double, { h: -1.5 })).to.equal('bff8000000000000')
    expect(hex(double, { h: Infinity })).to.equal('7ff0000000000000')
    expect(() => encodeMessage(message('f : 0|32@1- (1,0)', 'SIG_VALTYPE_ 100 f : 1;'), { f: 1e39 })).to.throw('Signal f cannot be 1e+39')
  })

  it('refuses what the bits or the range of the DBC do not hold, and names the range', () => {
    /** @type {[string, unknown, string][]} */
    const refused = [
      ['s : 0|8@1+ (1,0) [0|0] "" X', 256, 'Signal s cannot be 256: it takes 0 to 255.'],
      ['s : 0|8@1- (0.5,0) [0|0] "V" X', -64.5, 'Signal s cannot be -64.5: it takes -64 to 63.5 V.'],
      ['s : 0|8@1+ (1,0) [10|100] "km/h" X', 101, 'Signal s cannot be 101: it takes 10 to 100 km/h.'],
      ['s : 0|8@1+ (-1,0) [0|0] "" X', 1, 'Signal s cannot be 1: it takes -255 to 0.'],
      ['s : 0|64@1+ (1,0) [0|0] "" X', -1n, 'Signal s cannot be -1: it takes 0 to 18446744073709551615.'],
      ['s : 0|64@1+ (1,0) [0|0] "" X', 'x', 'Signal s cannot be x: it takes 0 to 18446744073709551615.'],
      ['s : 0|64@1+ (1,0) [0|0] "" X', NaN, 'Signal s cannot be NaN: it takes 0 to 18446744073709551615.'],
      ['s : 0|8@1+ (1,0) [0|0] "" X', NaN, 'Signal s cannot be NaN: it takes 0 to 255.'],
      ['s : 0|8@1+ (1,0) [0|0] "" X', Infinity, 'Signal s cannot be Infinity: it takes 0 to 255.'],
      ['s : 0|8@1+ (1,0) [0|0] "" X', '', 'Signal s cannot be : it takes 0 to 255.'],
      ['s : 0|8@1+ (1,0) [0|0] "" X', {}, 'Signal s cannot be a value of type object: it takes 0 to 255.'],
      ['s : 0|8@1+ (0,5) [0|0] "" X', 6, 'Signal s cannot be 6: it takes 5 to 5.']
    ]
    for (const [signal, value, text] of refused) {
      expect(() => encodeMessage(message(signal), { s: value }), text).to.throw(text).with.property('code', 'SLUICE_CAN_ENCODE')
    }
  })

  it('ignores a range that leaves no value', () => {
    expect(hex(message('s : 0|8@1+ (1,0) [1000|2000] "" X'), { s: 7 }).slice(0, 2)).to.equal('07')
  })

  it('refuses names that are not signals, and signals beyond the message', () => {
    expect(() => encodeMessage(message('s : 0|8@1+ (1,0)'), { sp: 1 }))
      .to.throw('Message M has no signal sp.').with.property('code', 'SLUICE_CAN_ENCODE')
    expect(() => encodeMessage(message('s : 0|8@1+ (1,0)'), { toString: 1 })).to.throw('Message M has no signal toString.')
    expect(() => encodeMessage(message('s : 60|8@1+ (1,0)'), { s: 1 })).to.throw('Message M has 8 bytes: signal s reaches beyond.')
    expect(hex(message('constructor : 0|8@1+ (1,0)'), {})).to.equal('0000000000000000')
  })
})

describe('encoding a multiplexed message', () => {
  const simple = message('which M : 0|8@1+ (1,0)', 'one m1 : 8|8@1+ (1,0)', 'two m2 : 8|8@1+ (1,0)')

  it('writes the signals that the switch selects', () => {
    expect(hex(simple, { which: 1, one: 5 })).to.equal('0105000000000000')
    expect(hex(simple, { which: 2, two: 6 })).to.equal('0206000000000000')
    expect(hex(simple, { which: 3 })).to.equal('0300000000000000')
  })

  it('refuses signals that the switch does not select', () => {
    expect(() => encodeMessage(simple, { which: 1, one: 5, two: 6 }))
      .to.throw('Message M has signal two only where which is 2.').with.property('code', 'SLUICE_CAN_ENCODE')
    expect(() => encodeMessage(simple, { one: 5 })).to.throw('Message M has signal one only where which is 1.')
  })

  it('follows switches of switches', () => {
    const nested = message(
      'deep m0 : 8|8@1+ (1,0)',
      'inner m1M : 4|4@1+ (1,0)',
      'outer M : 0|4@1+ (1,0)',
      'SG_MUL_VAL_ 100 inner outer 1-1;',
      'SG_MUL_VAL_ 100 deep inner 0-0, 3-5;'
    )
    expect(hex(nested, { outer: 1, inner: 4, deep: 9 })).to.equal('4109000000000000')
    expect(() => encodeMessage(nested, { outer: 1, inner: 2, deep: 9 })).to.throw('has signal deep only where inner is 0, 3-5')
    expect(() => encodeMessage(nested, { outer: 2, inner: 3 })).to.throw('has signal inner only where outer is 1')
  })
})

describe('encoding a parameter group', () => {
  const group = (/** @type {number} */ id, length = 8) => parseDbc(`BO_ ${0x80000000 + id} G: ${length} X
 SG_ speed : 24|16@1+ (0.125,0) [0|0] "rpm" X\n SG_ angle : 8|16@1- (1,0) [0|0] "" X
 SG_ on : 0|1@1+ (1,0) [0|1] "" X\nBA_ "ProtocolType" "J1939";`).messages[0]
  const EEC1 = group(0x0CF004FE)

  it('is "not available" where no value is given, and ones where no signal is', () => {
    expect(hex(EEC1, { on: 1 })).to.equal('ffff7fffffffffff')
    expect(hex(EEC1, { speed: 100, angle: -2, on: 0 })).to.equal('fefeff2003ffffff')
    expect(hex(EEC1, { speed: null, on: 0 })).to.equal('feff7fffffffffff')
  })

  it('refuses the numbers that would mean "not available" or an error', () => {
    for (const raw of [0xFFFF, 0xFB00]) expect(() => encodeMessage(EEC1, { speed: raw * 0.125 })).to.throw('it takes 0 to 8031.875 rpm')
    expect(() => encodeMessage(EEC1, { angle: 32767 })).to.throw('it takes -32768 to 32766')
  })

  it('is addressed as asked', () => {
    expect(frameOf(EEC1, {}, { sourceAddress: 0x21 })).to.include({ id: 0x0CF00421, extended: true, fd: false })
    expect(frameOf(EEC1, {}).id).to.equal(0x0CF004FE)
    expect(frameOf(group(0x18EFFFFE), {}, { sourceAddress: 3, destination: 0x21 }).id).to.equal(0x18EF2103)
    for (const [asked, text] of /** @type {[any, string][]} */ ([
      [{ destination: 1 }, 'is sent to all'],
      [{ sourceAddress: 256 }, 'addresses are 0 to 255'],
      [{ sourceAddress: 1.5 }, 'addresses are 0 to 255']
    ])) {
      expect(() => frameOf(EEC1, {}, asked)).to.throw(text).with.property('code', 'SLUICE_CAN_ENCODE')
    }
    expect(() => frameOf(message('s : 0|8@1+ (1,0)'), {}, { sourceAddress: 1 })).to.throw('it has no addresses')
  })

  it('is refused where one frame cannot carry it', () => {
    expect(() => frameOf(group(0x18FECAFE, 20), {})).to.throw(
      'Message G has 20 bytes: a parameter group of more than 8 cannot be sent in one frame.'
    )
  })
})

describe('the frame of a message', () => {
  it('is of CAN FD beyond 8 bytes, as long as one can be', () => {
    const [long, tooLong] = parseDbc('BO_ 1 L: 9 X\n SG_ s : 64|8@1+ (1,0)\nBO_ 2 T: 65 X\n SG_ s : 0|8@1+ (1,0)').messages
    expect(frameOf(long, { s: 255 })).to.deep.equal({ id: 1, extended: false, fd: true, data: new Uint8Array(12).fill(255, 8, 9) })
    expect(() => frameOf(tooLong, {})).to.throw('no frame is as long')
  })
})

describe('what is encoded', () => {
  const folder = 'test/data/can/dbc'
  for (const file of readdirSync(folder).filter(name => name.endsWith('.dbc') && name !== 'cantools-cp1252.dbc')) {
    it(`is decoded again: ${file}`, () => {
      const { messages } = readDbcFile(`${folder}/${file}`)
      const decoder = new Decoder(messages)
      for (const each of messages) {
        fc.assert(fc.property(valuesOf(each), values => {
          const decoded = decoder.decode(each.id, each.extended, encodeMessage(each, values))
          for (const [s, { name, step }] of each.signals.entries()) {
            if (!(name in values)) continue
            const [there, back] = [Number(values[name]), Number(decoded?.values[s])]
            expect(Math.abs(back - there), `${each.name} ${name} ${there} ${back}`).to.be.at.most(step / 2 + Math.abs(there) * 1e-6)
          }
        }), { numRuns: 10, seed: 1 })
      }
    })
  }

  it('is decoded again to the bit, for any signal', () => {
    fc.assert(fc.property(anySignal, ({ length, at, littleEndian, signed, data }) => {
      const first = at % (65 - length)
      const start = littleEndian ? first : (first & ~7) + 7 - (first & 7)
      const alone = message(`s : ${start}|${length}@${littleEndian ? 1 : 0}${signed ? '-' : '+'} (1,0)`)
      const value = alone.signals[0].read(data)
      const written = Uint8Array.from(data, byte => ~byte)
      alone.signals[0].write(written, value)
      expect(alone.signals[0].read(written)).to.equal(value)
      // All other bits are as they were.
      alone.signals[0].write(written, alone.signals[0].read(Uint8Array.from(data, byte => ~byte)))
      expect(written).to.deep.equal(Uint8Array.from(data, byte => ~byte))
    }), { numRuns: 3000, seed: 1 })
  })
})
