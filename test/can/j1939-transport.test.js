import { expect } from 'chai'
import fc from 'fast-check'
import { TransportAssembler } from '../../gateway/can/j1939/transport.js'

/** @typedef {import('../../gateway/can/candump/line.js').Frame} Frame */

const MS = 1_000_000n
const ENGINE = 0x00
const DISPLAY = 0x28

/** @param {number} id @param {string|ArrayLike<number>} data @param {Partial<Frame>} [more] @returns {Frame} */
function frame (id, data, more) {
  const bytes = typeof data === 'string' ? Buffer.from(data.replaceAll(' ', ''), 'hex') : data
  return { stamp: null, bus: 'can0', id, extended: true, kind: 'data', fd: false, data: Uint8Array.from(bytes), ...more }
}

/**
 * A message, to all or to one node, in the frames that J1939-21 lays out.
 * @param {number} pgn
 * @param {Uint8Array} data
 * @param {{source?: number, destination?: number}} [nodes]
 */
function sent (pgn, data, { source = ENGINE, destination = 0xFF } = {}) {
  const packets = Math.ceil(data.length / 7)
  const address = destination << 8 | source
  return [
    frame(0x1CEC0000 | address, [
      destination === 0xFF ? 32 : 16, data.length & 0xFF, data.length >> 8, packets, 0xFF, pgn & 0xFF, pgn >> 8 & 0xFF, pgn >> 16
    ]),
    ...Array.from({ length: packets }, (_, n) => {
      return frame(0x1CEB0000 | address, [n + 1, ...data.subarray(7 * n, 7 * n + 7), ...Array(7).fill(0xFF)].slice(0, 8))
    })
  ]
}

/** A message in the frames of NMEA 2000's fast packet. @param {number} id @param {Uint8Array} data @param {number} sequence */
function sentFast (id, data, sequence) {
  const packets = 1 + Math.ceil(Math.max(0, data.length - 6) / 7)
  return Array.from({ length: packets }, (_, n) => frame(id, [
    sequence << 5 | n,
    ...(n === 0 ? [data.length, ...data.subarray(0, 6)] : data.subarray(7 * n - 1, 7 * n + 6)),
    ...Array(7).fill(0xFF)
  ].slice(0, 8)))
}

/** What comes of frames so far apart. @param {TransportAssembler} assembler @param {Frame[]} frames */
function takeAll (assembler, frames, everyMs = 10n) {
  return frames.map((each, i) => assembler.take(each, BigInt(i) * everyMs * MS)).filter(taken => taken !== null)
}

/** @param {Frame} frame */
const shown = ({ id, data }) => `${id.toString(16).toUpperCase().padStart(8, '0')}#${Buffer.from(data).toString('hex')}`

/** Of a message in one frame. @param {number} pgn @param {number} source @param {number} destination */
function idOf (pgn, source, destination) {
  const format = pgn >> 8 & 0xFF
  return 0x1C000000 | (format < 240 ? pgn | destination : pgn) << 8 | source
}

/** @param {number} length */
const counting = length => Uint8Array.from({ length }, (_, i) => i)

/** What all counters but these are: 0. @param {Partial<TransportAssembler['counters']>} counters */
const only = counters => ({ transfers: 0, timeouts: 0, sequenceErrors: 0, aborted: 0, tooMany: 0, unsupported: 0, ...counters })

const ENGINE_CONFIGURATION = 0xFEE3
const GPS_POSITION = 0x1F805

describe('the transport protocol of J1939', () => {
  /** @type {TransportAssembler} */
  let assembler
  beforeEach(() => { assembler = new TransportAssembler() })

  it('returns a broadcast message, with the time of its last frame', () => {
    const stamp = { ns: 1_436_509_052_249_713_000n, text: '1436509052.249713', absolute: true }
    const taken = [
      frame(0x1CECFF00, '20 0E00 02 FF E3FE00'), // 14 bytes in 2 packets of PGN 00FEE3
      frame(0x1CEBFF00, '01 00010203040506'),
      frame(0x1CEBFF00, '02 0708090A0B0C0D', { stamp })
    ].map((each, i) => assembler.take(each, BigInt(i) * 50n * MS))
    expect(taken).to.deep.equal([null, null, frame(0x1CFEE300, counting(14), { stamp })])
    expect(assembler.counters).to.deep.equal(only({ transfers: 1 }))
    expect(assembler.open).to.equal(0)
  })

  it('returns a message between two nodes, whose receiver asks for its packets', () => {
    const [request, ...packets] = sent(0xEF00, counting(20), { source: ENGINE, destination: DISPLAY })
    const taken = takeAll(assembler, [
      request,
      frame(0x1CEC0028, '11 02 01 FFFF 00EF00'), // two packets, from the first
      packets[0],
      packets[1],
      frame(0x1CEC0028, '11 00 FF FFFF 00EF00'), // wait
      frame(0x1CEC0028, '11 01 03 FFFF 00EF00'),
      packets[2],
      frame(0x1CEC0028, '13 1400 03 FF 00EF00') // all there
    ])
    expect(taken.map(shown)).to.deep.equal([shown(frame(0x1CEF2800, counting(20)))])
    expect(assembler.counters).to.deep.equal(only({ transfers: 1 }))
    expect(assembler.open).to.equal(0)
  })

  it('follows a receiver that asks again for packets it has lost', () => {
    const [request, ...packets] = sent(ENGINE_CONFIGURATION, counting(28), { source: ENGINE, destination: DISPLAY })
    const [seen, unseen] = [packets, packets.filter((_, n) => n !== 1)].map(heard => takeAll(new TransportAssembler(), [
      request,
      frame(0x1CEC0028, '11 03 01 FFFF E3FE00'),
      ...heard.slice(0, -1),
      frame(0x1CEC0028, '11 01 02 FFFF E3FE00'), // the second again
      packets[1],
      frame(0x1CEC0028, heard === packets ? '11 01 04 FFFF E3FE00' : '11 02 03 FFFF E3FE00'),
      ...packets.slice(heard === packets ? 3 : 2)
    ]))
    expect(seen.map(shown)).to.deep.equal([shown(frame(0x1CFEE300, counting(28)))])
    expect(unseen.map(shown)).to.deep.equal([shown(frame(0x1CFEE300, counting(28)))])
  })

  it('returns a message once when packets are sent again after the last', () => {
    const [request, ...packets] = sent(ENGINE_CONFIGURATION, counting(14), { source: ENGINE, destination: DISPLAY })
    const again = frame(0x1CEC0028, '11 02 01 FFFF E3FE00')
    expect(takeAll(assembler, [request, again, ...packets, again, ...packets, frame(0x1CEC0028, '13 0E00 02 FF E3FE00')])).to.have.length(1)
    expect(assembler.counters).to.deep.equal(only({ transfers: 1 }))
  })

  it('does not return a message of which only the receiver has heard all', () => {
    const [request, ...packets] = sent(ENGINE_CONFIGURATION, counting(21), { source: ENGINE, destination: DISPLAY })
    const asked = frame(0x1CEC0028, '11 01 03 FFFF E3FE00')
    expect(takeAll(assembler, [request, packets[0], asked, packets[2]])).to.deep.equal([])
    expect(takeAll(assembler, [request, packets[0], frame(0x1CEC0028, '13 1500 03 FF E3FE00')])).to.deep.equal([])
    expect(assembler.counters).to.deep.equal(only({ sequenceErrors: 2 }))
    expect(assembler.open).to.equal(0)
  })

  it('passes other frames through', () => {
    for (const other of [
      frame(0x0CF00400, '0102030405060708'),
      frame(0x0DEBFF00, '0102030405060708'), // another data page
      frame(0x1CEBFF00, '', { kind: 'remote' }),
      frame(4, '0004000000000000', { kind: 'error' }),
      frame(0x7EB, '0102030405060708', { extended: false }),
      frame(0x1CEBFF00, '0102030405060708', { fd: true })
    ]) expect(assembler.take(other, 0n)).to.equal(other)
    expect(assembler.counters).to.deep.equal(only({}))
  })

  it('counts a broadcast that lacks a packet, wherever that is, and returns the next', () => {
    const message = sent(ENGINE_CONFIGURATION, counting(28))
    for (const lost of [0, 1, 2, 3]) {
      assembler = new TransportAssembler()
      expect(takeAll(assembler, message.filter((_, n) => n !== lost)), `without ${lost}`).to.deep.equal([])
      expect(assembler.counters).to.deep.equal(only({ sequenceErrors: 1 }))
      expect(takeAll(assembler, message)).to.have.length(1)
    }
  })

  it('counts packets in the wrong order or too short, and accepts one that came twice', () => {
    const [announcement, first, second, third] = sent(ENGINE_CONFIGURATION, counting(21))
    expect(takeAll(assembler, [announcement, first, third, second])).to.deep.equal([])
    expect(takeAll(assembler, [announcement, first, frame(second.id, second.data.subarray(0, 7)), third])).to.deep.equal([])
    expect(takeAll(assembler, [announcement, first, second, frame(second.id, '02 FFFFFFFFFFFFFF'), third])).to.deep.equal([])
    expect(assembler.counters).to.deep.equal(only({ sequenceErrors: 3 }))
    expect(takeAll(assembler, [announcement, first, first, second, second, third]).map(shown)).to.deep.equal([
      shown(frame(0x1CFEE300, counting(21)))
    ])
    expect(assembler.counters).to.deep.equal(only({ sequenceErrors: 3, transfers: 1 }))
  })

  it('never fills the gap of a message with the packets of the next, whose announcement was lost', () => {
    const [announcement, ...packets] = sent(ENGINE_CONFIGURATION, counting(21))
    const [, ...others] = sent(ENGINE_CONFIGURATION, new Uint8Array(21))
    expect(takeAll(assembler, [announcement, packets[0], packets[1], ...others])).to.deep.equal([])
  })

  it('gives up when no more comes: 750 ms in a broadcast, 1250 ms where it is the other\'s turn', () => {
    const broadcast = sent(ENGINE_CONFIGURATION, counting(14))
    const managed = sent(ENGINE_CONFIGURATION, counting(14), { destination: DISPLAY })
    expect(takeAll(assembler, broadcast, 750n)).to.have.length(1)
    expect(takeAll(assembler, managed, 1250n)).to.have.length(1)
    expect(assembler.counters).to.include({ timeouts: 0, transfers: 2 })

    assembler = new TransportAssembler()
    expect(takeAll(assembler, broadcast.slice(0, 2), 751n)).to.have.length(0)
    expect(assembler.counters).to.include({ timeouts: 1, transfers: 0 })
    assembler.take(managed[0], 5000n * MS)
    assembler.take(frame(0x0CF00400, ''), 6251n * MS) // any frame tells the time
    expect(assembler.counters).to.include({ timeouts: 2, transfers: 0 })
    expect(assembler.open).to.equal(0)
  })

  it('keeps nothing open when times start over', () => {
    assembler.take(sent(ENGINE_CONFIGURATION, counting(14))[0], 1_000_000n * MS)
    assembler.take(frame(0x0CF00400, ''), 0n)
    expect(assembler.counters.timeouts).to.equal(1)
    expect(assembler.open).to.equal(0)
  })

  it('ends with an abort of either node, not of another', () => {
    const [request, ...packets] = sent(ENGINE_CONFIGURATION, counting(14), { source: ENGINE, destination: DISPLAY })
    for (const abort of [frame(0x1CEC2800, 'FF 01 FFFFFF E3FE00'), frame(0x1CEC0028, 'FF 03 FFFFFF E3FE00')]) {
      assembler = new TransportAssembler()
      expect(takeAll(assembler, [request, packets[0], abort, packets[1]])).to.deep.equal([])
      expect(assembler.counters).to.deep.equal(only({ aborted: 1 }))
    }
    const others = [frame(0x1CEC0029, 'FF 03 FFFFFF E3FE00'), frame(0x1CEC0028, 'FF 03 FFFFFF 00EF00')]
    expect(takeAll(assembler, [request, packets[0], ...others, packets[1]])).to.have.length(1)
  })

  it('keeps the second of two broadcasts that one node began, or of two requests to send', () => {
    for (const destination of [0xFF, DISPLAY]) {
      assembler = new TransportAssembler()
      const first = sent(0xFECA, new Uint8Array(28), { destination })
      const second = sent(ENGINE_CONFIGURATION, counting(14), { destination })
      expect(takeAll(assembler, [...first.slice(0, 3), ...second]).map(shown)).to.deep.equal([shown(frame(0x1CFEE300, counting(14)))])
      expect(assembler.counters).to.deep.equal(only({ transfers: 1, aborted: 1 }))
    }
  })

  it('keeps buses apart', () => {
    const [announcement, ...packets] = sent(ENGINE_CONFIGURATION, counting(14))
    const others = sent(ENGINE_CONFIGURATION, new Uint8Array(14)).map(other => ({ ...other, bus: 'can1' }))
    const taken = takeAll(assembler, [announcement, others[0], packets[0], others[1], packets[1], others[2]])
    expect(taken.map(({ bus, data }) => [bus, data])).to.deep.equal([['can0', counting(14)], ['can1', new Uint8Array(14)]])
  })

  it('counts what it does not support', () => {
    const unsupported = [
      '14 00000200 00FE00', // extended: more than 1785 bytes
      '20 0800 02 FF E3FE00', // 8 bytes fit a frame
      '20 FA06 FF FF E3FE00', // 1786 bytes
      '20 0E00 03 FF E3FE00', // 14 bytes in three packets
      '10 0E00 02 FF E3FE00', // a request to send to all
      '63 0E00 02 FF E3FE00', // no control byte
      '20 0E00 02 FF E3'
    ].map((data, i) => frame(i === 0 ? 0x1CC82800 : 0x1CECFF00, data))
    expect(takeAll(assembler, [...unsupported, frame(0x1CC72800, '01 00010203040506')])).to.deep.equal([])
    expect(assembler.counters).to.deep.equal(only({ unsupported: 7 }))
  })

  it('keeps at most 256 transfers open, until they are overdue', () => {
    const announcements = Array.from({ length: 300 }, (_, i) => {
      return sent(ENGINE_CONFIGURATION, counting(1785), { source: i & 0xFF, destination: i < 256 ? 0xFF : DISPLAY })[0]
    })
    for (const announcement of announcements) assembler.take(announcement, 0n)
    expect(assembler.open).to.equal(256)
    expect(assembler.counters).to.deep.equal(only({ tooMany: 44 }))
    assembler.take(announcements[299], 751n * MS)
    expect(assembler.open).to.equal(1)
    expect(assembler.counters).to.deep.equal(only({ tooMany: 44, timeouts: 256 }))
  })
})

describe('fast packets of NMEA 2000', () => {
  /** @type {TransportAssembler} */
  let assembler
  beforeEach(() => { assembler = new TransportAssembler({ isFastPacket: group => group === GPS_POSITION }) })

  it('return a message with the identifier of its frames', () => {
    const taken = takeAll(assembler, [
      frame(0x0DF80503, 'A0 0F 000102030405'), // sequence 5: 15 bytes
      frame(0x0DF80503, 'A1 060708090A0B0C'),
      frame(0x0DF80503, 'A2 0D0E FFFFFFFFFF')
    ])
    expect(taken.map(shown)).to.deep.equal([shown(frame(0x0DF80503, counting(15)))])
    expect(assembler.counters).to.deep.equal(only({ transfers: 1 }))
  })

  it('may be a single frame; other groups\' frames are left alone', () => {
    expect(takeAll(assembler, [frame(0x0DF80503, '20 03 AABBCC FFFFFF')]).map(shown)).to.deep.equal(['0DF80503#aabbcc'])
    const single = frame(0x09F11203, '20 03 AABBCC FFFFFF')
    expect(assembler.take(single, 0n)).to.equal(single)
  })

  it('are never of J1939, whose long groups may come in one frame when they are short', () => {
    const faults = frame(0x18FECA03, '00FF 8E0D3A02 FFFF')
    assembler = new TransportAssembler({ isFastPacket: () => true })
    expect(assembler.take(faults, 0n)).to.equal(faults)
  })

  it('count a lost frame, one out of order, a wrong length, and a pause', () => {
    const [first, second, third] = sentFast(0x0DF80503, counting(20), 1)
    expect(takeAll(assembler, [second, third])).to.deep.equal([])
    expect(takeAll(assembler, [first, third])).to.deep.equal([])
    expect(takeAll(assembler, [first, second, frame(third.id, third.data.subarray(0, 7))])).to.deep.equal([])
    expect(assembler.counters).to.deep.equal(only({ sequenceErrors: 3 }))
    expect(takeAll(assembler, [frame(0x0DF80503, '20 E0 000102030405'), frame(0x0DF80503, '20'), frame(0x0DF80503, '')])).to.deep.equal([])
    expect(assembler.counters).to.deep.equal(only({ sequenceErrors: 3, unsupported: 3 }))
    expect([first, second, third].map((each, i) => assembler.take(each, i < 2 ? 0n : 751n * MS))).to.deep.equal([null, null, null])
    expect(assembler.counters).to.deep.equal(only({ sequenceErrors: 3, unsupported: 3, timeouts: 1 }))
  })

  it('of one sender may overlap: the sequence tells them apart', () => {
    const one = sentFast(0x0DF80503, counting(20), 1)
    const other = sentFast(0x0DF80503, new Uint8Array(20), 2)
    expect(takeAll(assembler, [one[0], other[0], other[1], one[1], one[2], other[2]]).map(shown))
      .to.deep.equal([shown(frame(0x0DF80503, counting(20))), shown(frame(0x0DF80503, new Uint8Array(20)))])
  })
})

describe('long messages of many nodes', () => {
  const pgn = fc.oneof(fc.constantFrom(0xEF00, ENGINE_CONFIGURATION, 0x1EF00), fc.integer({ min: 0xF000, max: 0xFFFF }))
  const transported = fc.record({
    pgn,
    destination: fc.oneof(fc.constant(0xFF), fc.integer({ min: 0, max: 0xFE })),
    data: fc.uint8Array({ minLength: 9, maxLength: 1785, size: 'max' })
  })
  const fast = fc.record({ sequence: fc.integer({ min: 0, max: 7 }), data: fc.uint8Array({ maxLength: 223, size: 'max' }) })
  const message = fc.oneof(transported, fast)

  it('come out as they went in, however their frames are mixed', () => {
    fc.assert(fc.property(fc.array(message, { minLength: 1, maxLength: 12 }), fc.infiniteStream(fc.nat()), (messages, choices) => {
      const assembler = new TransportAssembler({ isFastPacket: group => group === GPS_POSITION })
      const expected = messages.map((each, source) => 'sequence' in each
        ? shown(frame(0x0DF80500 | source, each.data))
        : shown(frame(idOf(each.pgn, source, each.destination), each.data)))
      const queues = messages.map((each, source) => 'sequence' in each
        ? sentFast(0x0DF80500 | source, each.data, each.sequence)
        : sent(each.pgn, each.data, { source, destination: each.destination }))
      const unrelated = frame(0x0CF00400, counting(8))
      const taken = []
      for (let ns = 0n; queues.some(queue => queue.length > 0); ns += MS / 10n) {
        const open = queues.filter(queue => queue.length > 0)
        const choice = choices.next().value % (open.length + 1)
        const next = choice === open.length ? unrelated : /** @type {Frame} */ (open[choice].shift())
        const got = assembler.take(next, ns)
        if (next === unrelated) expect(got).to.equal(unrelated)
        else if (got) taken.push(shown(got))
      }
      expect(taken.sort()).to.deep.equal(expected.sort())
      expect(assembler.counters).to.deep.equal(only({ transfers: messages.length }))
    }), { seed: 1939, numRuns: 60 })
  })

  it('of random frames throw nothing and stay bounded', () => {
    const control = fc.constantFrom(16, 17, 19, 20, 32, 255)
    const formats = fc.constantFrom(0xEC, 0xEB, 0xC8, 0xC7, 0xF8)
    const anyFrame = fc.record({
      format: formats,
      page: fc.constantFrom(0, 0, 0, 1),
      nodes: fc.integer({ min: 0, max: 0xFFFF }),
      kind: control,
      bytes: fc.uint8Array({ minLength: 0, maxLength: 8 })
    }).map(({ format, page, nodes, kind, bytes }) => {
      const data = [kind, ...bytes].slice(0, 8)
      if (kind === 32 || kind === 16) data[3] = Math.ceil((data[1] | data[2] << 8) / 7) // one in four is right
      return frame(0x18000000 | page << 24 | format << 16 | (kind === 32 ? nodes | 0xFF00 : nodes), data)
    })
    const assembler = new TransportAssembler({ isFastPacket: group => group >= 0x1F800 })
    let ns = 0n
    fc.assert(fc.property(anyFrame, fc.bigInt(-2n, 10n), (any, ms) => {
      ns += ms * MS
      assembler.take(any, ns)
      expect(assembler.open).to.be.at.most(256)
    }), { seed: 21, numRuns: 20_000 })
    expect(assembler.counters.timeouts).to.be.greaterThan(0)
  })
})
