import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { CanDecoder } from '../../gateway/can/decode.js'
import { parseDbc } from '../../gateway/can/dbc/parser.js'

/** As canboat.dbc has them: null addresses, the first byte of each packet as a signal, no VFrameFormat. */
const HEADING = `BO_ ${0x80000000 + 0x19F112FE} PGN_127250_vesselHeading: 8 Vector__XXX
 SG_ heading : 8|16@1+ (0.0001,0) [0|0] "rad" Vector__XXX`
const TRACK = `BO_ ${0x80000000 + 0x19F105FE} PGN_127237_headingTrackControl: 8 Vector__XXX
 SG_ fastPacketData : 8|56@1+ (1,0) [0|0] "" Vector__XXX
 SG_ fastPacketSequenceCounter : 0|8@1+ (1,0) [0|0] "" Vector__XXX`

describe('a DBC file of parameter groups that does not say so', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-groups-'))
  const dbcFile = path.join(folder, 'canboat.dbc')
  writeFileSync(dbcFile, `${HEADING}\n\n${TRACK}\n`)
  after(() => rmSync(folder, { recursive: true }))

  /** What a decoder counts of the log of a boat, and its warnings. @param {'file'|'groups'} matching */
  const decodeLog = matching => {
    /** @type {string[]} */
    const warnings = []
    const log = /** @type {any} */ ({ warn: (/** @type {string} */ text) => warnings.push(text) })
    const decoder = new CanDecoder({ dbcFile, matching }, { log, nowNs: () => 0n })
    const { batches } = decoder.decode(readFileSync('data/nmea2000.log', 'utf8'))
    return { batches, warnings, counters: decoder.counters }
  }

  it('decodes none of their frames as it stands, and hints at why', () => {
    const { counters, warnings } = decodeLog('file')
    expect(counters).to.include({ frames: 2368, rows: 0, unknownIds: 2368 })
    expect(warnings).to.have.length(1)
    expect(warnings[0]).to.match(/canboat\.dbc: It looks like a file for J1939 or NMEA 2000, but neither VFrameFormat nor .* group/)
  })

  it('decodes them where they are matched by parameter group, with their source addresses', () => {
    const { batches, counters } = decodeLog('groups')
    expect(counters.rows).to.be.above(100)
    expect(new Set(batches.map(({ source }) => source))).to.deep.equal(new Set(['can.PGN_127250_vesselHeading']))
    expect(batches[0].fields.map(({ name }) => name)).to.deep.equal(['address', 'heading'])
  })

  it('has no message of the packets of a fast packet, which it describes, and hints at that', () => {
    const { counters, warnings } = decodeLog('groups')
    expect(counters.otherFrames).to.be.above(0)
    expect(warnings[0]).to.include('1 messages are left out, such as PGN_127237_headingTrackControl: the file describes their packets')
  })

  it('is not taken for one where the identifiers are those of a car, or the protocol is named', () => {
    const message = ' SG_ a : 0|8@1+ (1,0) [0|0] "" X'
    for (const text of [
      `BO_ 100 M: 8 X\n${message}`,
      `BO_ ${0x80000000 + 0x18DAF110} Diagnosis: 8 X\n${message}`,
      `BO_ ${0x80000000 + 0x18FF00FE} PGN_65280: 8 X\n${message}\nBA_ "ProtocolType" "J1939";`
    ]) expect(parseDbc(text).hint, text).to.equal('')
  })

  it('leaves 11-bit identifiers as they are', () => {
    const { messages } = parseDbc('BO_ 100 M: 8 X\n SG_ a : 0|8@1+ (1,0) [0|0] "" X', { matching: 'groups' })
    expect(messages[0]).to.include({ isParameterGroup: false, isFastPacket: false })
  })
})

describe('fast packets of a DBC file', () => {
  const fast = (/** @type {number} */ pgn, /** @type {number} */ length, /** @type {string} */ others = '') => {
    const group = `BO_ ${0x98000000 + pgn * 256 + 0xFE} M: ${length} X\n SG_ a : 0|8@1+ (1,0) [0|0] "" X\n`
    return parseDbc(`${group}${others}BA_ "ProtocolType" "J1939";`).messages[0].isFastPacket
  }

  it('are the standard ones of NMEA 2000, however short they are described', () => {
    expect(fast(129029, 8)).to.equal(true)
    expect(fast(127250, 8)).to.equal(false)
  })

  it('are those of manufacturers only in a file of NMEA 2000, as J1939 has single frames there', () => {
    expect(fast(130820, 8)).to.equal(false)
    expect(fast(130820, 8, `BO_ ${0x98000000 + 127250 * 256} N: 8 X\n`)).to.equal(true)
    expect(fast(130820, 20)).to.equal(true)
  })
})
