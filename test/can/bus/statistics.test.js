import { expect } from 'chai'
import fc from 'fast-check'
import { parseCandumpLine } from '../../../gateway/can/candump/line.js'
import { bitsOnBus, BusStatistics } from '../../../gateway/can/bus/statistics.js'

/** @typedef {import('../../../gateway/can/candump/line.js').Frame} Frame */

/** @param {string} text  as cansend takes it */
const frame = text => /** @type {Frame} */ (parseCandumpLine(`(1700000000.000000) can0 ${text}`))

const START_NS = 1_700_000_000_000_000_000n
const MS = 1_000_000n

/** @param {BusStatistics} statistics @param {string} text @param {{count: number, everyMs?: number, startMs?: number}} how */
function countMany (statistics, text, { count, everyMs = 1, startMs = 0 }) {
  for (let i = 0; i < count; i++) statistics.count(frame(text), START_NS + BigInt(startMs + i * everyMs) * MS)
}

describe('the bits of a frame on the bus', () => {
  it('are the frame, its stuff bits, and the pause after it', () => {
    // 44 + 3 bits and 8 a byte, of which 34 + 8 a byte are stuffed: at most one in four.
    expect(bitsOnBus(frame('555#')).bits).to.be.within(47, 47 + 8)
    expect(bitsOnBus(frame('15555555#5555555555555555')).bits).to.be.within(131, 131 + 29)
    expect(bitsOnBus(frame('000#0000000000000000')).bits).to.be.within(111, 111 + 24)
  })

  it('are what canbusload -e of can-utils counts', () => {
    expect(bitsOnBus(frame('044#2A366C2BBA')).bits).to.equal(90)
    expect(bitsOnBus(frame('000#3C000F0F0F0F0F00')).bits).to.equal(130)
    expect(bitsOnBus(frame('18FEF100#0123456789ABCDEF')).bits).to.equal(137)
    expect(bitsOnBus(frame('000007FF#3C3C3C1F83F00FFF')).bits).to.equal(152)
  })

  it('equal those of a frame written out bit by bit', () => {
    fc.assert(fc.property(anyFrame(), sample => {
      expect(bitsOnBus(sample)).to.deep.equal(bitsOf(sample))
    }), { seed: 11898, numRuns: 3000 })
  })

  it('of CAN FD are the data\'s and the CRC\'s at the other bit rate', () => {
    // 17 bits before and 13 after; between them 5 + 8 a byte, stuff count and CRC of 17 or 21 with 6 or 7 fixed stuff bits.
    expect(bitsOnBus(frame('555##155'))).to.deep.equal({ bits: 30, dataBits: 5 + 8 + 27 })
    expect(bitsOnBus(frame(`555##1${'55'.repeat(16)}`))).to.deep.equal({ bits: 30, dataBits: 5 + 128 + 27 })
    expect(bitsOnBus(frame(`555##1${'55'.repeat(64)}`))).to.deep.equal({ bits: 30, dataBits: 5 + 512 + 32 })
  })
})

describe('the statistics of a bus', () => {
  it('report rate and load of the last second', () => {
    const statistics = new BusStatistics({ bitrate: 500_000 })
    const text = '18FEF100#0123456789ABCDEF'
    countMany(statistics, text, { count: 3000 })
    const { frames, framesPerSecond, loadPercent } = statistics.report(START_NS + 3000n * MS)
    expect({ frames, framesPerSecond }).to.deep.equal({ frames: 3000, framesPerSecond: 1000 })
    expect(loadPercent).to.be.closeTo(1000 * bitsOnBus(frame(text)).bits / 500_000 * 100, 0.01)
  })

  it('follow a bus that changes, and one that falls silent', () => {
    const statistics = new BusStatistics({ bitrate: 500_000 })
    const rateAt = (/** @type {number} */ ms) => statistics.report(START_NS + BigInt(ms) * MS).framesPerSecond
    countMany(statistics, '123#00', { count: 1000 })
    expect(rateAt(1000)).to.equal(1000)
    countMany(statistics, '123#00', { count: 100, everyMs: 10, startMs: 1000 })
    expect([rateAt(2000), rateAt(2500), rateAt(3000)]).to.deep.equal([100, 50, 0])
    expect(statistics.report(START_NS + 3000n * MS).loadPercent).to.equal(0)
  })

  it('end with the last frame where frames run ahead of the clock, and recover from a time far off', () => {
    const statistics = new BusStatistics({ bitrate: 500_000 })
    countMany(statistics, '123#00', { count: 2000 })
    const clockNs = START_NS + 5n * MS
    expect(statistics.report(clockNs).framesPerSecond).to.be.within(990, 1000)
    statistics.count(frame('123#00'), 4n * START_NS)
    countMany(statistics, '123#00', { count: 1001, startMs: 2000 })
    expect(statistics.report(clockNs).framesPerSecond).to.be.within(990, 1000)
  })

  it('know two bit rates of CAN FD, and report no load without the first', () => {
    const text = `123##1${'5A'.repeat(64)}`
    const { bits, dataBits } = bitsOnBus(frame(text))
    const load = (/** @type {number} */ bitrate, /** @type {number|undefined} */ dataBitrate) => {
      const statistics = new BusStatistics({ bitrate, dataBitrate })
      countMany(statistics, text, { count: 1000 })
      return statistics.report(START_NS + 1000n * MS).loadPercent
    }
    expect(load(500_000, 2_000_000)).to.be.closeTo(100 * (bits / 500 + dataBits / 2000), 0.01)
    expect(load(500_000, 0)).to.be.closeTo(100 * (bits + dataBits) / 500, 0.01)
    expect(load(0, 0)).to.equal(null)
  })

  it('accept a bit rate that is learned later', () => {
    const statistics = new BusStatistics({ bitrate: 0 })
    countMany(statistics, '123#00', { count: 1000 })
    statistics.bitrate = 250_000
    expect(statistics.report(START_NS + 1000n * MS).loadPercent).to.be.greaterThan(20)
  })

  it('count error frames by class, outside of the load, and what was dropped', () => {
    const statistics = new BusStatistics({ bitrate: 500_000 })
    statistics.count(frame('20000088#0000040A00000000'), START_NS) // a bus error: bad stuffing in the data
    statistics.count(frame('20000020#0000000000000000'), START_NS) // nobody acknowledges
    statistics.count(frame('20000003#0500000000000000'), START_NS) // timeout, arbitration lost
    statistics.drop(3)
    statistics.drop(4)
    expect(statistics.report(START_NS + 1000n * MS)).to.deep.equal({
      frames: 0,
      framesPerSecond: 0,
      loadPercent: 0,
      errorFrames: 3,
      transmitTimeouts: 1,
      lostArbitrations: 1,
      controllerProblems: 0,
      protocolViolations: 1,
      transceiverFaults: 0,
      missingAcknowledgements: 1,
      busOffs: 0,
      busErrors: 1,
      restarts: 0,
      transmitErrorCounter: 0,
      receiveErrorCounter: 0,
      drops: 7,
      state: 'error-active'
    })
  })

  it('follow the error state of the controller', () => {
    const statistics = new BusStatistics({ bitrate: 500_000 })
    const states = [
      '20000004#0008000000006000', // transmit warning
      '20000004#0020000000008000', // transmit passive
      '20000004#0030000000008080', // both passive
      '20000004#0004000000000060', // receive warning
      '20000004#0040000000000000', // recovered
      '20000004#0001000000000000', // an overflow changes nothing
      '20000040#0000000000000000', // bus off
      '20000080#0000000000000000', // a bus error changes nothing
      '20000100#0000000000000000', // restarted
      '20000200#0000000000006100', // its counters alone: 97, 0
      '20000200#0000000000000080', // 0, 128
      '20000200#0000000000000A00' // 10, 0
    ].map(text => {
      statistics.count(frame(text), START_NS)
      return statistics.state
    })
    expect(states).to.deep.equal([
      'error-warning', 'error-passive', 'error-passive', 'error-warning', 'error-active', 'error-active',
      'bus-off', 'bus-off', 'error-active', 'error-warning', 'error-passive', 'error-active'
    ])
    expect(statistics.report()).to.include({
      transmitErrorCounter: 10,
      receiveErrorCounter: 0,
      busOffs: 1,
      restarts: 1,
      controllerProblems: 6
    })
  })

  it('are on the bus again once a frame is heard', () => {
    const statistics = new BusStatistics({ bitrate: 500_000 })
    statistics.count(frame('20000040#0000000000000000'), START_NS)
    statistics.count(frame('123#00'), START_NS)
    expect(statistics.state).to.equal('error-active')
  })

  it('are not upset by error frames or data of any shape', () => {
    const statistics = new BusStatistics({ bitrate: 500_000 })
    fc.assert(fc.property(fc.record({
      stamp: fc.constant(null),
      bus: fc.constant('can0'),
      id: fc.nat(),
      extended: fc.boolean(),
      kind: fc.constantFrom('data', 'remote', 'error'),
      fd: fc.boolean(),
      data: fc.uint8Array({ maxLength: 100 })
    }), fc.bigInt(-START_NS, 4n * START_NS), (sample, ns) => {
      statistics.count(/** @type {Frame} */ (sample), ns)
      const { framesPerSecond, loadPercent } = statistics.report(ns)
      expect(framesPerSecond).to.be.within(0, 20_000)
      expect(loadPercent).to.be.within(0, 10_000)
    }), { seed: 4, numRuns: 5000 })
  })
})

/** @returns {fc.Arbitrary<Frame>} as a bus can carry it; with long runs of equal bits */
function anyFrame () {
  const byte = fc.oneof(fc.constantFrom(0x00, 0xFF, 0x0F, 0xF0, 0x1F, 0x83), fc.integer({ min: 0, max: 0xFF }))
  return fc.record({ extended: fc.boolean(), fd: fc.boolean(), remote: fc.boolean() }).chain(({ extended, fd, remote }) => fc.record({
    stamp: fc.constant(null),
    bus: fc.constant('can0'),
    id: fc.oneof(fc.constantFrom(0, 0x7FF, 0x78), fc.integer({ min: 0, max: extended ? 0x1FFFFFFF : 0x7FF })),
    extended: fc.constant(extended),
    kind: fc.constant(/** @type {Frame['kind']} */ (remote && !fd ? 'remote' : 'data')),
    fd: fc.constant(fd),
    data: fc.constantFrom(...DATA_LENGTHS.filter(length => fd || length <= 8)).chain(length =>
      fc.array(byte, { minLength: remote && !fd ? 0 : length, maxLength: remote && !fd ? 0 : length })).map(bytes => Uint8Array.from(bytes))
  }))
}

const DATA_LENGTHS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64]

/** A frame as the text of its bits, which is stuffed and measured. @param {Frame} frame */
function bitsOf ({ id, extended, kind, fd, data }) {
  const idBits = binary(id, extended ? 29 : 11)
  const remote = kind === 'remote' ? '1' : '0'
  const base = '0' + (extended ? `${idBits.slice(0, 11)}11${idBits.slice(11)}` : idBits) // start of frame, identifier
  const rest = binary(DATA_LENGTHS.indexOf(data.length), 4) + Array.from(data, byte => binary(byte, 8)).join('')
  const end = '1'.length + '01'.length + 7 + 3 // CRC delimiter, acknowledge, end of frame, pause
  if (!fd) {
    const body = `${base}${remote}00${rest}` // extended: remote, r1, r0; else: remote, IDE, r0
    return { bits: stuff(body + crc15(body)).length + end, dataBits: 0 }
  }
  const slow = base + (extended ? '0101' : '00101') // remote substitution, [IDE,] FD format, reserved, bit rate switch
  const stuffedSlow = stuff(slow)
  const all = stuff(slow + '0' + rest) // error state indicator
  const isDue = /(00000.|11111.)$/.test(all) && stuff(slow + '0' + rest.slice(0, -1)).length < all.length - 1
  const crc = data.length > 16 ? 21 : 17
  const field = '0000'.length + crc
  return { bits: stuffedSlow.length + end, dataBits: all.length - stuffedSlow.length - (isDue ? 1 : 0) + field + Math.ceil(field / 4) }
}

/** @param {string} bits  stuffed: after five equal bits one of the other value */
function stuff (bits) {
  let out = ''
  for (const bit of bits) {
    out += bit
    if (out.endsWith('00000')) out += '1'
    else if (out.endsWith('11111')) out += '0'
  }
  return out
}

/** The remainder of the bits times x¹⁵ by x¹⁵ + x¹⁴ + x¹⁰ + x⁸ + x⁷ + x⁴ + x³ + 1. @param {string} bits */
function crc15 (bits) {
  let rest = BigInt('0b' + bits) << 15n
  for (let at = bits.length - 1; at >= 0; at--) {
    if (rest >> BigInt(at + 15) & 1n) rest ^= 0b1100010110011001n << BigInt(at)
  }
  return binary(Number(rest), 15)
}

/** @param {number} value @param {number} length */
function binary (value, length) {
  return value.toString(2).padStart(length, '0')
}
