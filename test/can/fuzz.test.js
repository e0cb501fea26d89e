import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { parseCandumpLine } from '../../gateway/can/candump/line.js'
import { parseDbc } from '../../gateway/can/dbc/parser.js'
import { Decoder } from '../../gateway/can/dbc/decoder.js'
import { encodeMessage } from '../../gateway/can/dbc/encoder.js'

const SEED = 1

describe('whatever is in a DBC file', () => {
  const good = `VERSION "1"
BU_: A B
BO_ 100 Mixed: 8 A
 SG_ which M : 0|4@1+ (1,0) [0|15] "" B
 SG_ one m1 : 8|12@1- (0.5,-10) [-40|215] "°C" B
 SG_ inner m2M : 15|4@0+ (1,0) [0|0] "" B
 SG_ deep m3 : 24|32@1- (1,0) [0|0] "V" B
BO_ 2364540158 EEC1: 8 A
 SG_ speed : 24|16@1+ (0.125,0) [0|8031.875] "rpm" B
 SG_ wide : 7|64@0+ (1,0) [0|0] "" B
CM_ SG_ 100 which "a comment; with \\"quotes\\"";
VAL_TABLE_ Gears 0 "neutral" 1 "first" ;
VAL_ 100 which Gears ;
VAL_ 100 inner 0 "off" 1 "on" ;
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_DEF_DEF_ "ProtocolType" "J1939";
BA_ "VFrameFormat" BO_ 2364540158 3;
SG_MUL_VAL_ 100 deep inner 0-3, 7-9;
SIG_VALTYPE_ 100 deep : 1;
`
  const piece = fc.oneof(
    fc.constantFrom(
      '"', ';', '\n', ' ', ':', '|', '@', '0', '1', '9', '-', '.', 'm1', 'M', 'm2M', '65', '64|8', '\\', ',', '1e999', '-1', '4294967295',
      '18446744073709551616', ' which ', 'BO_ 100 ', ' SG_ ', 'VAL_ 100 ', '1-1', '\u2028', '\uFFFF'
    ),
    fc.string({ maxLength: 8 })
  )
  const change = fc.record({ at: fc.nat(good.length), cut: fc.oneof({ weight: 9, arbitrary: fc.nat(6) }, fc.nat(200)), put: piece })
  /** The file, changed in one to five places. */
  const damaged = fc.array(change, { minLength: 1, maxLength: 5 }).map(changes => {
    return changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), good)
  })
  const frame = fc.uint8Array({ maxLength: 10 })

  it('is parsed, and what comes of it reads and writes frames, without a throw', () => {
    let messagesLeft = 0
    fc.assert(fc.property(damaged, frame, (text, data) => {
      const { messages, warnings } = parseDbc(text)
      for (const { line, reason } of warnings) if (!(line > 0) || reason === '') throw new Error(`a warning without a place: ${reason}`)
      const texts = new Decoder(messages, { choices: 'texts' })
      for (const message of messages) {
        messagesLeft++
        texts.decode(message.id, message.extended, data)
        for (const { read, name, minimum } of message.signals) {
          read(data)
          encodeOrRefuse(message, { [name]: minimum })
        }
      }
    }), { numRuns: 25_000, seed: SEED })
    expect(messagesLeft).to.be.above(40_000)
  }).timeout(60_000)

  it('is parsed in a time that grows only with its length', () => {
    const length = 100_000
    const many = (/** @type {string} */ text) => text.repeat(length / text.length)
    const message = 'BO_ 1 M: 8 X\n SG_ s : 0|8@1+ (1,0) [0|0] "" X\n'
    const switches = Array.from({ length: length / 50 }, (_, i) => i)
    const hard = [
      `${message}SIG_VALTYPE_ 1 s${many(' ')}x;`,
      `${message}BA_ "${many('\\"')}`,
      `${message}BA_ "a" SG_ 1 s${many(' ')}"`,
      `${message}SG_MUL_VAL_ 1 s t ${many('1-1, ')}x;`,
      `${message}VAL_ 1 s ${many('1 "a" ')}x;`,
      `${message}VAL_ 1 s ${many('1')}x;`,
      `${message}${many('VAL_ 1 s 0 "a";')}`,
      `${message}BA_DEF_ BO_ "VFrameFormat" ENUM ${many('"a",')}`,
      `BO_ 1 M: 8 X\n SG_ s${many(' ')}:`,
      `BO_ 1 M: 8 X\n SG_ s : 0|8@1+ (${many('1')}`,
      `BO_ 1 M: 8 X\n SG_ s : 0|8@1+ (1,0) [${many(' ')}`,
      `BO_ 1 M: 8 X\n SG_ s : 0|8@1+ (1,0) [0|0] "${many('\\')}`,
      many('CM_ "\n'), many('CM_ "a\n\n"b\n'), `CM_ "\n${many('VAL_ 1 s\n')}`, many('CM_ a\nxx'), many('BO_ '), many('\n'),
      [
        'BO_ 1 M: 8 X\n SG_ s0 M : 0|8@1+ (1,0)',
        ...switches.map(i => ` SG_ s${i + 1} m1M : 0|8@1+ (1,0)`),
        ...switches.map(i => `SG_MUL_VAL_ 1 s${i + 1} s${i} 1-1;`)
      ].join('\n')
    ]
    for (const text of hard) parseDbc(text)
    // A statement too long for a regular expression.
    const { warnings } = parseDbc(`BO_ 1 M: 8 X\n SG_ s : 0|8@1+ (1,0) [0|0] "${'\\'.repeat(20_000_000)}`)
    expect(warnings.map(({ reason }) => reason)).to.deep.equal(['a statement of 20000028 characters'])
  })
})

describe('whatever is in a line of candump', () => {
  const lines = readFileSync('test/data/can/nmea2000-screen.candump', 'utf8').split('\n').slice(0, 40)
    .concat([
      '(1436509052.249713) can0 123##1AABBCC', '(1436509052.249713) can0 20000004#0004000000000000',
      ' (2015-07-10 06:17:32.249713)  can0  RX - -  123   [2]  41 42   \'AB\'', '(1.0) can0 123#R T'
    ])
  const piece = fc.constantFrom('(', ')', '#', '##', '[8]', 'R', ' ', '.', '_9', '00 ', '\'', ':', '\u2028', '\0')
  const change = fc.record({
    at: fc.nat(60), cut: fc.nat(3), put: fc.oneof(piece, fc.string({ maxLength: 3, unit: 'binary' }))
  })
  const damaged = fc.tuple(fc.constantFrom(...lines), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([line, changes]) => changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), line))

  it('is a possible frame, a reason, or nothing', () => {
    const kinds = { frames: 0, reasons: 0 }
    fc.assert(fc.property(damaged, line => {
      const parsed = parseCandumpLine(line)
      if (parsed === null) return
      if ('reason' in parsed) {
        kinds.reasons++
        return
      }
      kinds.frames++
      const { id, extended, data } = parsed
      if (!(id >= 0 && id <= (extended ? 0x1FFFFFFF : 0x7FF)) || data.length > 64) throw new Error('no such frame')
    }), { numRuns: 40_000, seed: SEED })
    expect(Math.min(kinds.frames, kinds.reasons)).to.be.above(2000)
  })

  it('is read in a time that grows only with its length', () => {
    for (const line of [
      `(1.0)${' '.repeat(1e6)}`, `(1.0) can0 ${'1'.repeat(900)}`, `(1.0) ${'x '.repeat(450)}`, `can0 123 [8] ${'11 '.repeat(300)}x`,
      `can0 RX ${'- '.repeat(450)}`, `can0${' '.repeat(450)}123${' '.repeat(450)}[8`
    ]) {
      parseCandumpLine(line)
    }
    expect(parseCandumpLine(`(1.0) can0 123#${'00'.repeat(1e7)}`)).to.deep.equal({ reason: 'a line of 20000015 characters' })
  })
})

/** @param {import('../../gateway/can/dbc/message.js').Message} message @param {Record<string, unknown>} values */
function encodeOrRefuse (message, values) {
  try {
    encodeMessage(message, values)
  } catch (error) {
    if (/** @type {any} */ (error).code !== 'SLUICE_CAN_ENCODE') throw error
  }
}
