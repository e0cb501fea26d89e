import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { CanDecoder } from '../../gateway/can/decode.js'
import { Decoder } from '../../gateway/can/dbc/decoder.js'
import { encodeMessage } from '../../gateway/can/dbc/encoder.js'
import { parseDbc } from '../../gateway/can/dbc/parser.js'

const J1939_ID = 0x0CF004FE
const NMEA_ID = 0x19F112FE

/** @param {number} id @param {string[]} lines  signals, then other statements */
const dbcOf = (id, lines) => [
  `BO_ ${0x80000000 + id} M: 8 X`,
  ...lines.map(line => /^[A-Z]+_/.test(line) ? line.replace('ID', String(0x80000000 + id)) : ` SG_ ${line} "" X`),
  'BA_ "ProtocolType" "J1939";'
].join('\n')

/**
 * Signal s of the frame: its value, or why there is none.
 * @param {number} id @param {string[]} lines @param {string} hex @param {import('../../gateway/can/dbc/parser.js').DbcOptions} [options]
 */
function read (id, lines, hex, options) {
  const { messages } = parseDbc(dbcOf(id, lines), options)
  const data = Buffer.from(hex, 'hex')
  const value = new Decoder(messages).decode(id, true, data)?.values[0]
  const fault = messages[0].signals[0].faultOf(data)
  expect(value === undefined || fault === undefined, 'either a value or a fault').to.equal(true)
  return value ?? fault ?? 'not available'
}

describe('errors and reserved values', () => {
  describe('of J1939', () => {
    const byte = ['s : 0|8@1+ (1,0) [0|250]']
    const word = ['s : 0|16@1+ (0.125,0) [0|8031.875]']

    for (const [hex, meaning] of /** @type {[string, unknown][]} */ ([
      ['fa', 250], ['fb', 'parameter specific'], ['fc', 'reserved'], ['fd', 'reserved'], ['fe', 'error'], ['ff', 'not available']
    ])) it(`have ${hex} of a byte as ${meaning}`, () => expect(read(J1939_ID, byte, hex)).to.equal(meaning))

    for (const [hex, meaning] of /** @type {[string, unknown][]} */ ([
      ['fffa', 8031.875], ['00fb', 'parameter specific'], ['fffd', 'reserved'], ['00fe', 'error'], ['fffe', 'error'],
      ['00ff', 'not available'], ['ffff', 'not available']
    ])) it(`have ${hex} of two bytes as ${meaning}`, () => expect(read(J1939_ID, word, hex)).to.equal(meaning))

    it('are at the top of four bytes and Motorola order, too', () => {
      expect(read(J1939_ID, ['s : 0|32@1+ (1,0) [0|0]'], 'fffffffa')).to.equal(0xFAFFFFFF)
      expect(read(J1939_ID, ['s : 0|32@1+ (1,0) [0|0]'], '000000fe')).to.equal('error')
      expect(read(J1939_ID, ['s : 7|16@0+ (1,0) [0|0]'], 'fe00')).to.equal('error')
    })

    it('have 2 of two bits as an error, unless a table names it otherwise', () => {
      expect(read(J1939_ID, ['s : 0|2@1+ (1,0) [0|0]'], '02')).to.equal('error')
      expect(read(J1939_ID, ['s : 0|2@1+ (1,0) [0|3]', 'VAL_ ID s 0 "off" 1 "on" 2 "Error" 3 "n/a" ;'], '02')).to.equal('error')
      expect(read(J1939_ID, ['s : 0|2@1+ (1,0) [0|3]', 'VAL_ ID s 1 "speed" 2 "torque" ;'], '02')).to.equal(2)
    })

    it('are values where the range of the file includes them, and of other widths or signs', () => {
      expect(read(J1939_ID, ['s : 0|16@1+ (1,0) [0|65535]'], '00fe')).to.equal(0xFE00)
      expect(read(J1939_ID, ['s : 0|16@1+ (1,0) [0|65535]'], 'ffff')).to.equal('not available')
      expect(read(J1939_ID, ['s : 0|8@1+ (1,0) [0|252]'], 'fc')).to.equal(252)
      expect(read(J1939_ID, ['s : 0|8@1+ (1,0) [0|252]'], 'fd')).to.equal('reserved')
      expect(read(J1939_ID, ['s : 0|12@1+ (1,0) [0|0]'], 'fe0f')).to.equal(0xFFE)
      expect(read(J1939_ID, ['s : 0|8@1- (1,0) [-125|125]'], '7e')).to.equal(126)
    })
  })

  describe('of NMEA 2000', () => {
    for (const [signal, hex, meaning] of /** @type {[string, string, unknown][]} */ ([
      ['0|8@1+ (1,0) [0|0]', 'fc', 252], ['0|8@1+ (1,0) [0|0]', 'fd', 'reserved'], ['0|8@1+ (1,0) [0|0]', 'fe', 'out of range'],
      ['0|16@1+ (1,0) [0|0]', '00fe', 0xFE00], ['0|16@1+ (1,0) [0|0]', 'feff', 'out of range'],
      ['0|16@1- (1,0) [0|0]', 'fe7f', 'out of range'], ['0|16@1- (1,0) [0|0]', 'fd7f', 'reserved'], ['0|16@1- (1,0) [0|0]', 'feff', -2],
      ['0|64@1- (1,0) [0|0]', 'feffffffffffff7f', 'out of range'],
      ['0|4@1+ (1,0) [0|0]', '0e', 'out of range'], ['0|4@1+ (1,0) [0|0]', '0d', 13], ['0|2@1+ (1,0) [0|0]', '02', 2]
    ])) it(`have ${hex} of ${signal} as ${meaning}`, () => expect(read(NMEA_ID, [`s : ${signal}`], hex)).to.equal(meaning))
  })

  it('are those of J1939 in its groups on a boat, and of NMEA 2000 in its manufacturers\' groups', () => {
    const group = (/** @type {number} */ id) => `BO_ ${0x80000000 + id} M${id}: 8 X\n SG_ s : 0|16@1+ (1,0) [0|0] "" X\n`
    const dbc = (/** @type {number[]} */ ...ids) => `${ids.map(group).join('')}BA_ "ProtocolType" "J1939";`
    const error = Buffer.from('00fe', 'hex')
    const faults = (/** @type {string} */ text) => parseDbc(text).messages.map(({ signals }) => signals[0].faultOf(error))
    expect(faults(dbc(J1939_ID, 0x18FF00FE, 0x18EFFFFE))).to.deep.equal(['error', 'error', 'error'])
    expect(faults(dbc(NMEA_ID, J1939_ID, 0x18FF00FE, 0x18EFFFFE))).to.deep.equal([undefined, 'error', undefined, undefined])
  })

  it('are numbers by option, but for "not available"', () => {
    expect(read(J1939_ID, ['s : 0|8@1+ (1,0) [0|250]'], 'fe', { indicators: 'numbers' })).to.equal(254)
    expect(read(J1939_ID, ['s : 0|8@1+ (1,0) [0|250]'], 'ff', { indicators: 'numbers' })).to.equal('not available')
    expect(read(NMEA_ID, ['s : 0|16@1- (1,0) [0|0]'], 'fe7f', { indicators: 'numbers' })).to.equal(32766)
  })

  it('are numbers where the file is of neither protocol', () => {
    const { messages } = parseDbc('BO_ 100 M: 8 X\n SG_ s : 0|8@1+ (1,0) [0|250] "" X')
    expect(new Decoder(messages).decode(100, false, Buffer.from('fe', 'hex'))?.values).to.deep.equal([254])
  })

  it('are not sent as if they were values', () => {
    const { messages: [message] } = parseDbc(dbcOf(J1939_ID, ['s : 0|8@1+ (1,0) [0|0]']))
    expect(() => encodeMessage(message, { s: 254 })).to.throw('Signal s cannot be 254: it takes 0 to 250.')
  })

  describe('in a batch', () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-indicators-'))
    const dbcFile = path.join(folder, 'bus.dbc')
    after(() => rmSync(folder, { recursive: true }))

    /** @param {string[]} lines @param {string} frames */
    const rowsOf = (lines, frames) => {
      writeFileSync(dbcFile, dbcOf(J1939_ID, lines))
      const { batches: [batch] } = new CanDecoder({ dbcFile }, { log: /** @type {any} */ (null), nowNs: () => 5n }).decode(frames)
      return { fields: batch.fields.map(({ name }) => name), rows: batch.toObjects() }
    }
    const TWO = ['speed : 0|16@1+ (1,0) [0|0]', 'load : 16|8@1+ (1,0) [0|0]']

    it('are missing, and the quality says why', () => {
      const { fields, rows } = rowsOf(TWO, '0CF00400#0100FE\n0CF00400#00FEFE\n0CF00400#010002\n0CF00400#FFFFFF\n0CF00400#00FEFD')
      expect(fields).to.deep.equal(['address', 'speed', 'load', 'quality'])
      expect(rows.map(({ time: _, address: __, ...row }) => row)).to.deep.equal([
        { speed: 1, quality: 'load: error' },
        { quality: 'error' },
        { speed: 1, load: 2 },
        {},
        { quality: 'speed: error; load: reserved' }
      ])
    })

    it('need no quality where none is', () => expect(rowsOf(TWO, '0CF00400#0100FF').fields).to.deep.equal(['address', 'speed', 'load']))

    it('have a quality of another name beside a signal of that name', () => {
      const { fields } = rowsOf(['Quality : 0|8@1+ (1,0) [0|0]'], '0CF00400#FE')
      expect(fields).to.deep.equal(['address', 'Quality', 'signal_quality'])
    })
  })
})
