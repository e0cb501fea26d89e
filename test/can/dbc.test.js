import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { readDbcFile } from '../../gateway/can/dbc/file.js'
import { parseDbc } from '../../gateway/can/dbc/parser.js'
import { Decoder } from '../../gateway/can/dbc/decoder.js'
import { anySignal } from './random-values.js'

/**
 * What a DBC text makes of a frame: its signals by name, missing ones left out.
 * @param {string} text @param {number} id @param {string} hex @param {boolean} [extended]
 * @returns {Record<string, number|bigint>|undefined}
 */
function decode (text, id, hex, extended = false) {
  const decoded = new Decoder(parseDbc(text).messages).decode(id, extended, Buffer.from(hex, 'hex'))
  return decoded && Object.fromEntries(decoded.message.signals
    .map(({ name }, s) => /** @type {[string, any]} */ ([name, decoded.values[s]]))
    .filter(([, value]) => value !== undefined))
}

/** A file of one message 100 with these signals. @param {...string} signals */
const message = (...signals) => ['BO_ 100 M: 8 X', ...signals.map(signal => ` SG_ ${signal} [0|0] "" X`)].join('\n')

describe('DBC signals', () => {
  it('reads Intel and Motorola bit orders', () => {
    expect(decode(message('a : 0|16@1+ (1,0)', 'b : 7|16@0+ (1,0)', 'c : 4|12@1+ (1,0)', 'd : 3|12@0+ (1,0)'), 100, '1234'))
      .to.deep.equal({ a: 0x3412, b: 0x1234, c: 0x341, d: 0x234 })
  })

  it('reads signed values, factor and offset', () => {
    expect(decode(message('a : 0|8@1- (0.5,10)', 'b : 12|4@1- (1,0)', 'c : 16|32@1- (2,0)'), 100, 'fef0feffffff'))
      .to.deep.equal({ a: 9, b: -1, c: -4 })
  })

  it('reads floats', () => {
    const text = `${message('f : 0|32@1- (1,0)', 'g : 32|32@1- (2,1)')}\nSIG_VALTYPE_ 100 f : 1;\nSIG_VALTYPE_ 100 g : 1;`
    expect(decode(text, 100, '0000c03f000000c0')).to.deep.equal({ f: 1.5, g: -3 })
    expect(decode(`${message('h : 7|64@0- (1,0)')}\nSIG_VALTYPE_ 100 h : 2;`, 100, 'bff8000000000000')).to.deep.equal({ h: -1.5 })
  })

  it('keeps all 64 bits', () => {
    expect(decode(message('u : 0|64@1+ (1,0)'), 100, 'ffffffffffffffff')).to.deep.equal({ u: 2n ** 64n - 1n })
    expect(decode(message('s : 0|64@1- (1,0)'), 100, '0000000000000080')).to.deep.equal({ s: -(2n ** 63n) })
    expect(decode(message('n : 0|64@1+ (0.5,0)'), 100, '0200000000000000')).to.deep.equal({ n: 1 })
  })

  it('names the narrowest type that holds all values of a signal', () => {
    const { messages: [{ signals }] } = parseDbc(message(
      'a : 0|53@1+ (1,0)',
      'b : 0|54@1+ (1,0)',
      'c : 0|64@1- (1,0)',
      'd : 0|64@1+ (1,0)',
      'e : 0|64@1+ (0.1,0)',
      'f : 0|32@1+ (10000000,0)'
    ))
    expect(signals.map(({ type }) => type)).to.deep.equal(['float64', 'int64', 'int64', 'string', 'float64', 'int64'])
  })

  it('agrees with bit-by-bit reading for any signal', () => {
    fc.assert(fc.property(anySignal, ({ length, at, littleEndian, signed, data }) => {
      // Positions in the order of significance: from the lowest bit (Intel), from the highest (Motorola).
      const first = at % (65 - length)
      const positions = Array.from({ length }, (_, i) => first + i)
      const bits = positions.map(p => littleEndian ? data[p >> 3] >> (p & 7) & 1 : data[p >> 3] >> (7 - (p & 7)) & 1)
      const raw = BigInt(`0b${(littleEndian ? bits.reverse() : bits).join('')}`)
      const start = littleEndian ? first : (first & ~7) + 7 - (first & 7)
      const dbc = message(`s : ${start}|${length}@${littleEndian ? 1 : 0}${signed ? '-' : '+'} (1,0)`)
      const value = decode(dbc, 100, Buffer.from(data).toString('hex'))?.s
      expect(BigInt(value ?? NaN)).to.equal(signed ? BigInt.asIntN(length, raw) : raw)
    }), { numRuns: 2000 })
  })

  it('leaves out what a short frame does not hold', () => {
    const text = message('a : 0|8@1+ (1,0)', 'b : 8|8@1+ (1,0)')
    expect(decode(text, 100, '07')).to.deep.equal({ a: 7 })
    expect(decode(text, 100, '')).to.equal(undefined)
  })
})

describe('DBC multiplexing', () => {
  it('reads the signals the multiplexor selects', () => {
    const text = message('which M : 0|8@1+ (1,0)', 'one m1 : 8|8@1+ (1,0)', 'two m2 : 8|8@1+ (1,0)')
    expect(decode(text, 100, '0105')).to.deep.equal({ which: 1, one: 5 })
    expect(decode(text, 100, '0205')).to.deep.equal({ which: 2, two: 5 })
    expect(decode(text, 100, '0305')).to.deep.equal({ which: 3 })
  })

  it('follows multiplexors of multiplexors and ranges of values', () => {
    const text = `${message('outer M : 0|4@1+ (1,0)', 'inner m1M : 4|4@1+ (1,0)', 'deep m0 : 8|8@1+ (1,0)', 'wide m2 : 8|8@1+ (1,0)')}
SG_MUL_VAL_ 100 inner outer 1-1;
SG_MUL_VAL_ 100 deep inner 0-0, 3-5;
SG_MUL_VAL_ 100 wide outer 2-9;`
    expect(decode(text, 100, '4109')).to.deep.equal({ outer: 1, inner: 4, deep: 9 })
    expect(decode(text, 100, '2109')).to.deep.equal({ outer: 1, inner: 2 })
    expect(decode(text, 100, '4709')).to.deep.equal({ outer: 7, wide: 9 })
  })

  it('takes the values of a signal marked m from its SG_MUL_VAL_', () => {
    const signals = message('which M : 0|8@1+ (1,0)', 'one m : 8|8@1+ (1,0)', 'two m 2 : 8|8@1+ (1,0)')
    const text = `${signals}\nSG_MUL_VAL_ 100 one which 1-1, 5-6;`
    expect(parseDbc(text).warnings).to.deep.equal([])
    expect(decode(text, 100, '0507')).to.deep.equal({ which: 5, one: 7 })
    expect(decode(text, 100, '0207')).to.deep.equal({ which: 2, two: 7 })
  })

  it('refuses a signal marked m of which nothing says by which value it is selected', () => {
    const { messages, warnings } = parseDbc(message('which M : 0|8@1+ (1,0)', 'one m : 8|8@1+ (1,0)', 'two mM : 8|8@1+ (1,0)'))
    expect(messages[0].signals.map(({ name }) => name)).to.deep.equal(['which'])
    expect(warnings.map(({ line, reason }) => `${line} ${reason}`)).to.deep.equal([3, 4].map(line =>
      `${line} multiplexed, but neither a number after m nor an SG_MUL_VAL_ says by which value`))
  })

  it('selects by the raw bits of a signed multiplexor', () => {
    expect(decode(message('which M : 0|4@1- (1,0)', 'last m15 : 8|8@1+ (1,0)'), 100, '0f05')).to.deep.equal({ which: -1, last: 5 })
  })

  it('refuses multiplexors that do not exist or select each other', () => {
    const { messages, warnings } = parseDbc(`${message('a m1 : 0|8@1+ (1,0)')}
BO_ 101 N: 8 X\n SG_ b M : 0|8@1+ (1,0)\n SG_ c m1M : 8|8@1+ (1,0)
SG_MUL_VAL_ 101 b c 1-1;\nSG_MUL_VAL_ 101 c b 1-1;`)
    expect(messages.map(({ signals }) => signals.length)).to.deep.equal([0, 0])
    expect(warnings.map(({ line, reason }) => [line, reason])).to.deep.equal([
      [2, 'no multiplexor in M selects it'],
      [4, 'multiplexors that select each other'],
      [5, 'multiplexors that select each other']
    ])
  })
})

describe('DBC parameter groups', () => {
  const EEC1 = 0x80000000 + 0x0CF004FE
  const group = (/** @type {string} */ attributes) => `BO_ ${EEC1} EEC1: 8 X\n SG_ speed : 24|16@1+ (0.125,0) [0|8031] "rpm" X
 SG_ torque : 16|8@1- (1,0) [0|0] "%" X\n SG_ flag : 0|1@1+ (1,0) [0|1] "" X\n${attributes}`
  const j1939 = group(
    `BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";\nBA_ "VFrameFormat" BO_ ${EEC1} 3;`
  )

  it('match whatever their priority and source address', () => {
    for (const id of [0x0CF00400, 0x18F00427, 0x0CF004FE]) expect(decode(j1939, id, '0000102003', true)).to.include({ speed: 100 })
    expect(decode(j1939, 0x0CF00500, '0000102003', true)).to.equal(undefined)
  })

  it('match whatever the destination of a PDU1 message', () => {
    const text = `BO_ ${0x80000000 + 0x18EFFFFE} ProprietaryA: 8 X\n SG_ a : 0|8@1+ (1,0) [0|0] "" X\nBA_ "ProtocolType" "J1939";`
    expect(decode(text, 0x18EF2103, '05', true)).to.deep.equal({ a: 5 })
    expect(decode(text, 0x18EE2103, '05', true)).to.equal(undefined)
  })

  it('are told apart by source address where the DBC does', () => {
    const text = `BO_ ${0x80000000 + 0x18FF0001} A: 8 X\n SG_ a : 0|8@1+ (1,0)
BO_ ${0x80000000 + 0x18FF0002} B: 8 X\n SG_ b : 0|8@1+ (1,0)\nBA_ "ProtocolType" "J1939";`
    expect(decode(text, 0x0CFF0002, '05', true)).to.deep.equal({ b: 5 })
    expect(decode(text, 0x0CFF0001, '05', true)).to.deep.equal({ a: 5 })
  })

  it('have "not available" as missing, except in a single bit', () => {
    expect(decode(j1939, 0x0CF00400, 'ffff7dffff', true)).to.deep.equal({ flag: 1, torque: 125 })
    expect(decode(j1939, 0x0CF00400, 'fffffffffa', true)).to.deep.equal({ flag: 1, torque: -1, speed: 0xFAFF * 0.125 })
  })

  it('read the largest signed value as "not available" where the range leaves it out, and from 16 bits on', () => {
    const text = (/** @type {string} */ signal) => {
      return `BO_ ${0x80000000 + 0x19F80100} Position: 8 X\n SG_ s : ${signal} "" X\nBA_ "ProtocolType" "NMEA2000";`
    }
    expect(decode(text('0|8@1- (1,0) [-125|125]'), 0x19F80100, '7f', true)).to.deep.equal({})
    expect(decode(text('0|8@1- (1,0) [0|0]'), 0x19F80100, '7f', true)).to.deep.equal({ s: 127 })
    expect(decode(text('0|16@1- (1,0) [0|0]'), 0x19F80100, 'ff7f', true)).to.deep.equal({})
    expect(decode(text('0|16@1- (1,0) [0|0]'), 0x19F80100, 'ffff', true)).to.deep.equal({ s: -1 })
  })

  it('may be as long as the transport protocol carries', () => {
    const text = `BO_ ${0x80000000 + 0x18FECA00} Faults: 1785 X\n SG_ last : 14272|8@1+ (1,0) [0|0] "" X\nBA_ "ProtocolType" "J1939";`
    expect(decode(text, 0x18FECA00, '00'.repeat(1784) + '05', true)).to.deep.equal({ last: 5 })
    expect(decode(text, 0x18FECA00, '00'.repeat(1784), true)).to.equal(undefined)
  })

  it('are plain messages where the DBC names no such protocol', () => {
    expect(decode(group(''), 0x0CF004FE, 'ffff7fffff', true)).to.deep.equal({ flag: 1, torque: 127, speed: 65535 * 0.125 })
    expect(decode(group(''), 0x0CF00400, 'ffff7fffff', true)).to.equal(undefined)
  })
})

describe('DBC value tables', () => {
  /** The texts of a frame. @param {string} text @param {string} hex */
  const texts = (text, hex) => {
    return new Decoder(parseDbc(text).messages, { choices: 'texts' }).decode(100, false, Buffer.from(hex, 'hex'))?.values
  }

  it('have names instead of numbers where texts are asked for, digits where there is no name', () => {
    const gear = `${message('gear : 0|4@1- (1,0)', 'speed : 8|8@1+ (0.5,0)')}\nVAL_ 100 gear -1 "reverse" 0 "neutral \\"N\\"" ;`
    expect(texts(gear, '0f03')).to.deep.equal(['reverse', 1.5])
    expect(texts(gear, '0003')).to.deep.equal(['neutral "N"', 1.5])
    expect(texts(gear, '0503')).to.deep.equal(['5', 1.5])
    expect(texts(gear, '05')).to.deep.equal(['5', undefined])
    expect(decode(gear, 100, '0f03')).to.deep.equal({ gear: -1, speed: 1.5 })
  })

  it('make a column of texts', () => {
    const { messages } = parseDbc(`${message('gear : 0|4@1+ (1,0)')}\nVAL_ 100 gear 1 "first" ;`)
    const found = new Decoder(messages, { choices: 'texts' }).find(100, false)
    expect(found?.signals[0]).to.include({ name: 'gear', type: 'string' })
  })

  it('name the raw value, not the one with factor and offset', () => {
    expect(texts(`${message('t : 0|8@1+ (0.5,-40)')}\nVAL_ 100 t 255 "broken" ;`, 'ff')).to.deep.equal(['broken'])
    const wide = `${message('wide : 0|64@1+ (1,0)')}\nVAL_ 100 wide 18446744073709551615 "none" ;`
    expect(texts(wide, 'ffffffffffffffff')).to.deep.equal(['none'])
  })

  it('may stand by their name', () => {
    const signals = message('a : 0|1@1+ (1,0)', 'b : 1|1@1+ (1,0)')
    const dbc = `VAL_TABLE_ Switch 1 "on" 0 "off" ;\n${signals}\nVAL_ 100 a Switch ;\nVAL_ 100 b Switch ;`
    expect(texts(dbc, '01')).to.deep.equal(['on', 'off'])
  })

  it('are listed where they are broken, and the rest is used', () => {
    const { messages, warnings } = parseDbc(`VAL_TABLE_ T 0 zero ;
${message('a : 0|8@1+ (1,0)')}
VAL_ 100 a 0 "zero" 1 ;
VAL_ 100 b 0 "zero" ;
VAL_ 100 a Missing ;
VAL_ variable 0 "zero" ;
VAL_ 100 a 1.5 "no raw value" 300 "too large" ;`)
    expect(messages[0].signals.map(({ name }) => name)).to.deep.equal(['a'])
    expect(warnings.map(({ line, reason }) => [line, reason])).to.deep.equal([
      [1, 'not a table of values'], [4, 'not the names of values'], [5, 'message M has no signal b'], [6, 'not the names of values']
    ])
  })
})

describe('DBC files', () => {
  it('list bad lines and use the rest', () => {
    const { messages, warnings } = parseDbc(`VERSION "1"
BO_ 100 Good: 8 X
 SG_ fine : 0|8@1+ (1,0) [0|255] "km/h" X
 SG_ broken : 0-8@1+ (1,0) [0|255] "" X
 SG_ huge : 0|65@1+ (1,0) [0|0] "" X
 SG_ beyond : 60|8@1+ (1,0) [0|0] "" X
BO_ what: 8 X
 SG_ lost : 0|8@1+ (1,0) [0|255] "" X
nonsense here
CM_ BO_ 100 "a quote that never ends;
BO_ 101 Other: 8 X
 SG_ other : 0|8@1+ (1,0) [0|255] "" X
VAL_ 101 stray 0 "off" 1 "on" ;
SIG_VALTYPE_ 999 x : 1;
SIG_VALTYPE_ 101 other : 1;`)
    expect(messages.map(({ name, signals }) => [name, ...signals.map(signal => signal.name)])).to.deep.equal([
      ['Good', 'fine', 'beyond'],
      ['Other']
    ])
    expect(warnings.map(({ line, reason }) => [line, reason])).to.deep.equal([
      [4, 'not a signal'],
      [5, '65 bits, not 1 to 64'],
      [6, 'reaches beyond the 8 bytes of Good; read from longer frames only'],
      [7, 'not a message'],
      [9, 'not a statement of the DBC format'],
      [10, 'a quoted text is not closed'],
      [12, '32-bit float of 8 bits'],
      [13, 'message Other has no signal stray'],
      [14, 'there is no message 999']
    ])
    expect(warnings[0].text).to.equal('SG_ broken : 0-8@1+ (1,0) [0|255] "" X')
  })

  it('may hold comments over several lines, quoted quotes and statements in one line', () => {
    const { messages, warnings } = parseDbc(`// by hand
VERSION "2.0" // another comment
NS_ :
\tCM_
\tBA_DEF_
BU_: A
  B C
CM_ BU_ A "first;
BO_ 1 NotAMessage: 8 X
the \\"end\\"";
BO_ 2 Message: 8 A
 SG_ s : 0|8@1+(1,0)[0|0]"%"A,B
VAL_ 2 s 0 "a;b" 1 "c" ; VAL_TABLE_ T 0 "x";
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN",
  "ExtendedCAN";`)
    expect(warnings).to.deep.equal([])
    expect(messages).to.have.length(1)
    expect(messages[0].signals[0]).to.include({ name: 's', unit: '%' })
  })

  it('use the full names where they were cut', () => {
    const { messages } = parseDbc(`${message('short : 0|8@1+ (1,0)')}
BA_ "SystemMessageLongSymbol" BO_ 100 "LongMessage";
BA_ "SystemSignalLongSymbol" SG_ 100 short "longSignal";`)
    expect(messages[0].name).to.equal('LongMessage')
    expect(messages[0].signals[0].name).to.equal('longSignal')
  })

  it('replace a message or signal that comes twice, and report it', () => {
    const { messages, warnings } = parseDbc(`${message('a : 0|8@1+ (1,0)', 'a : 8|8@1+ (1,0)')}\nBO_ 100 N: 8 X\n SG_ b : 0|8@1+ (1,0)`)
    expect(messages.map(({ name }) => name)).to.deep.equal(['N'])
    expect(warnings.map(({ reason }) => reason)).to.deep.equal([
      'replaces a of line 2 in the same message', 'replaces M of line 1, which has the same identifier'
    ])
  })

  it('read identifiers beyond 11 bits as 29 bits where the flag was forgotten', () => {
    const text = 'BO_ 4096 M: 8 X\n SG_ a : 0|8@1+ (1,0)'
    expect(decode(text, 4096, '05', true)).to.deep.equal({ a: 5 })
    expect(parseDbc(text).warnings).to.have.length(1)
  })

  describe('on disk', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-dbc-'))
    const file = path.join(folder, 'bus.dbc')
    after(() => rmSync(folder, { recursive: true }))

    for (const encoding of /** @type {const} */ (['utf8', 'latin1'])) {
      it(`may be ${encoding}`, () => {
        writeFileSync(file, Buffer.from('BO_ 1 M: 8 X\n SG_ t : 0|8@1+ (1,0) [0|0] "°C" X', encoding))
        expect(readDbcFile(file).messages[0].signals[0].unit).to.equal('°C')
      })
    }

    it('are refused clearly when missing or holding no message', () => {
      expect(() => readDbcFile(path.join(folder, 'none.dbc'))).to.throw(/none\.dbc cannot be read/).with.property('code', 'SLUICE_DBC_FILE')
      writeFileSync(file, 'BO_ x')
      expect(() => readDbcFile(file)).to.throw('holds no message (line 1: not a message)').with.property('code', 'SLUICE_DBC_EMPTY')
    })
  })

  it('never make the parser throw', () => {
    const word = fc.constantFrom(
      'BO_ ', 'SG_ ', ' SG_ ', 'VAL_ ', 'CM_ ', 'BA_ ', 'BA_DEF_ ', 'BA_DEF_DEF_ ', 'SIG_VALTYPE_ ', 'SG_MUL_VAL_ ', 'NS_ :', 'BU_:',
      '100 ', '2364540158 ', 'name ', 'M ', 'm1 ', 'm1M ', ': ', '0|8@1+ ', '7|64@0- ', '(1,0) ', '(0,1e400)', '[0|0] ',
      '"', '"text" ', '\\', ';', '\n', '\r\n', ',', '1-1', '//', '"VFrameFormat" ', '"J1939" '
    )
    const words = fc.array(fc.oneof({ weight: 9, arbitrary: word }, fc.string()), { maxLength: 60, size: 'large' })
    const text = words.map(parts => parts.join(''))
    const good = message('a M : 0|8@1+ (1,0)', 'b m1M : 8|8@0- (2,1)', 'c m1 : 16|32@1- (1,0)')
    const damaged = fc.tuple(fc.nat(good.length), fc.nat(10), text).map(([at, cut, put]) => good.slice(0, at) + put + good.slice(at + cut))
    const data = new Uint8Array(8).fill(0x81)
    fc.assert(fc.property(fc.oneof(text, damaged), broken => {
      for (const { signals } of parseDbc(broken).messages) for (const signal of signals) signal.read(data)
    }), { numRuns: 10000 })
  })
})
