import { FIRST_FAST_GROUP } from './groups.js'
import { addressedTo, destinationOf, isAddressed, MAX_GROUP_BYTES, pgnOf, sourceAddressOf } from './identifier.js'

/**
 * Messages longer than a frame, reassembled: the transport protocol of SAE J1939-21 (9 to 1785 bytes, to all or between two nodes) and the
 * fast packets of NMEA 2000 (up to 223 bytes).
 *
 * @typedef {import('../candump/line.js').Frame} Frame
 *
 * @typedef {object} Transfer  a message on its way
 * @property {number} id  of the whole message: priority, parameter group, destination, source address
 * @property {number} pgn  as its control frames name it
 * @property {Uint8Array} data
 * @property {number} offset  where the data of a packet numbered 0 would begin
 * @property {number} next  number of the packet that is due
 * @property {number} received  the greatest number of those in sequence
 * @property {number} packets  number of the last packet
 * @property {boolean} isManaged  its receiver may ask for packets again
 * @property {boolean} isBroken  a packet is missing until the receiver asks for it
 * @property {bigint} lastNs
 * @property {bigint} timeoutNs
 */

// Data pages and PDU format.
const FORMAT_MASK = 0x3FF
const CONNECTION_FORMAT = 0xEC
const DATA_FORMAT = 0xEB
const EXTENDED_CONNECTION_FORMAT = 0xC8
const EXTENDED_DATA_FORMAT = 0xC7

const REQUEST_TO_SEND = 16
const CLEAR_TO_SEND = 17
const END_OF_MESSAGE = 19
const EXTENDED_REQUEST_TO_SEND = 20
const BROADCAST = 32
const ABORT = 255

const BYTES_PER_PACKET = 7
const FIRST_FAST_BYTES = 6
const MAX_FAST_BYTES = 223
const MIN_TRANSFER_BYTES = 9
const EVERYONE = 0xFF

// J1939-21: T1 between the packets of one sender, T2 and T3 where it is the other's turn. NMEA 2000 has the first too.
const PACKET_TIMEOUT_NS = 750_000_000n
const TURN_TIMEOUT_NS = 1_250_000_000n
const SWEEP_NS = 250_000_000n
const MAX_TRANSFERS = 256

const PGN_MASK = 0x3FFFF
const PRIORITY_MASK = 0x1C000000
// Without the priority.
const ADDRESS_MASK = 0x3FFFFFF

/**
 * Listens to the transfers between all nodes, on any number of buses, and takes part in none. For frames of J1939, NMEA 2000 or ISO 11783:
 * elsewhere the same identifiers mean other things.
 */
export class TransportAssembler {
  /**
   * Live. `transfers`: messages complete. `timeouts`: given up as nothing more came. `sequenceErrors`: a packet or the beginning was
   * missing or out of order. `aborted`: given up by a node, which announced that or began another instead. `tooMany`: not begun as 256
   * others were open. `unsupported`: of the extended protocol (beyond 1785 bytes), or announced with impossible lengths.
   */
  counters = { transfers: 0, timeouts: 0, sequenceErrors: 0, aborted: 0, tooMany: 0, unsupported: 0 }
  #isFastPacket
  /** @type {Map<string, Transfer>} */
  #open = new Map()
  #sweptNs = 0n

  /**
   * @param {{isFastPacket?: (pgn: number) => boolean}} [options]  which parameter groups of NMEA 2000 come as fast packets: nothing in a
   *   frame tells. Not asked for those of J1939
   */
  constructor ({ isFastPacket = () => false } = {}) {
    this.#isFastPacket = isFastPacket
  }

  /** How many transfers are on their way: at most 256. */
  get open () { return this.#open.size }

  /** How many were not, or not yet, complete. */
  get incomplete () {
    const { timeouts, sequenceErrors, aborted, tooMany, unsupported } = this.counters
    const open = [...this.#open.values()].filter(transfer => !isComplete(transfer))
    return timeouts + sequenceErrors + aborted + tooMany + unsupported + open.length
  }

  /**
   * The frame itself where it is a whole message, as all are that were logged so; null where it controls a transfer or carries a packet;
   * with the last packet the whole message, as a frame of up to 1785 bytes that has the time, `stamp` included, of this last frame, the
   * identifier of the message (priority and source address are the sender's), and its destination, 255 for all.
   * @param {Frame} frame
   * @param {bigint} ns  when it was on the bus; of any clock, as only the time between frames matters
   * @returns {Frame|null}
   */
  take (frame, ns) {
    if (this.#open.size > 0 && isApart(ns, this.#sweptNs, SWEEP_NS)) this.#sweep(ns)
    if (!frame.extended || frame.kind !== 'data' || frame.fd || frame.isWhole) return frame
    switch (frame.id >>> 16 & FORMAT_MASK) {
      case DATA_FORMAT: return this.#takeData(frame, ns)
      case CONNECTION_FORMAT: return this.#takeControl(frame, ns)
      case EXTENDED_DATA_FORMAT: return null
      case EXTENDED_CONNECTION_FORMAT: return frame.data[0] === EXTENDED_REQUEST_TO_SEND ? this.#refuse() : null
    }
    const pgn = pgnOf(frame.id)
    return pgn >= FIRST_FAST_GROUP && this.#isFastPacket(pgn) ? this.#takeFastPacket(frame, ns) : frame
  }

  /** @param {Frame} frame @param {bigint} ns @returns {null} */
  #takeControl (frame, ns) {
    const { bus, id, data } = frame
    if (data.length < 8) return this.#refuse()
    const sender = sourceAddressOf(id)
    const receiver = destinationOf(id)
    const pgn = (data[5] | data[6] << 8 | data[7] << 16) & PGN_MASK
    switch (data[0]) {
      case REQUEST_TO_SEND: return receiver === EVERYONE ? this.#refuse() : this.#announce(frame, pgn, ns)
      case BROADCAST: return receiver === EVERYONE ? this.#announce(frame, pgn, ns) : this.#refuse()
      case CLEAR_TO_SEND: return this.#clearToSend(connectionKey(bus, receiver, sender), pgn, data, ns)
      case END_OF_MESSAGE: return this.#acknowledge(connectionKey(bus, receiver, sender), pgn, ns)
      case ABORT: return this.#abort([connectionKey(bus, sender, receiver), connectionKey(bus, receiver, sender)], pgn, ns)
      default: return this.#refuse()
    }
  }

  /** @param {Frame} frame @param {number} pgn @param {bigint} ns @returns {null} */
  #announce ({ bus, id, data }, pgn, ns) {
    const bytes = data[1] | data[2] << 8
    const packets = data[3]
    if (bytes < MIN_TRANSFER_BYTES || bytes > MAX_GROUP_BYTES || packets !== Math.ceil(bytes / BYTES_PER_PACKET)) return this.#refuse()
    const sender = sourceAddressOf(id)
    const receiver = destinationOf(id)
    const isManaged = receiver !== EVERYONE
    const whole = (id & PRIORITY_MASK | pgn << 8 | sender) >>> 0
    return this.#begin(connectionKey(bus, sender, receiver), {
      id: isAddressed(whole) ? addressedTo(whole, { destination: receiver }) : whole,
      pgn,
      data: new Uint8Array(bytes),
      offset: -BYTES_PER_PACKET,
      next: 1,
      received: 0,
      packets,
      isManaged,
      isBroken: false,
      lastNs: ns,
      timeoutNs: isManaged ? TURN_TIMEOUT_NS : PACKET_TIMEOUT_NS
    })
  }

  /**
   * The receiver asks for the packet that is to come next: an earlier one where it has lost it.
   * @param {string} key
   * @param {number} pgn
   * @param {Uint8Array} control
   * @param {bigint} ns
   * @returns {null}
   */
  #clearToSend (key, pgn, [, packets, next], ns) {
    const transfer = this.#find(key, ns)
    if (transfer?.pgn !== pgn) return null
    transfer.lastNs = ns
    if (packets === 0) return null // the sender is to wait
    if (next === 0 || next > transfer.packets) return this.#refuse()
    if (next > transfer.received + 1) return this.#lose(key, transfer)
    transfer.next = next
    transfer.isBroken = false
    return null
  }

  /** @param {string} key @param {number} pgn @param {bigint} ns @returns {null} */
  #acknowledge (key, pgn, ns) {
    const transfer = this.#find(key, ns)
    if (transfer?.pgn !== pgn) return null
    if (!isComplete(transfer)) return this.#lose(key, transfer)
    this.#open.delete(key)
    return null
  }

  /** @param {string[]} keys  either node may give up @param {number} pgn @param {bigint} ns @returns {null} */
  #abort (keys, pgn, ns) {
    for (const key of keys) if (this.#find(key, ns)?.pgn === pgn) this.#giveUp(key, 'aborted')
    return null
  }

  /** @param {Frame} frame @param {bigint} ns */
  #takeData (frame, ns) {
    return this.#takePacket(connectionKey(frame.bus, sourceAddressOf(frame.id), destinationOf(frame.id)), frame, frame.data[0], ns)
  }

  /**
   * Its first byte holds a sequence number, which tells messages apart, and the packet's number; the first packet's second byte is the
   * length.
   * @param {Frame} frame
   * @param {bigint} ns
   */
  #takeFastPacket (frame, ns) {
    const { bus, id, data } = frame
    if (data.length === 0) return this.#refuse()
    const key = `${id & ADDRESS_MASK}#${data[0] >>> 5} ${bus}`
    const number = data[0] & 0x1F
    if (number > 0) return this.#takePacket(key, frame, number, ns)

    const bytes = data[1]
    const firstBytes = Math.min(bytes, FIRST_FAST_BYTES)
    if (!(bytes <= MAX_FAST_BYTES && data.length >= 2 + firstBytes)) return this.#refuse()
    const whole = new Uint8Array(bytes)
    whole.set(data.subarray(2, 2 + firstBytes))
    if (bytes === firstBytes) return this.#complete(frame, id, whole)
    return this.#begin(key, {
      id,
      pgn: pgnOf(id),
      data: whole,
      offset: FIRST_FAST_BYTES - BYTES_PER_PACKET,
      next: 1,
      received: 0,
      packets: Math.ceil((bytes - FIRST_FAST_BYTES) / BYTES_PER_PACKET),
      isManaged: false,
      isBroken: false,
      lastNs: ns,
      timeoutNs: PACKET_TIMEOUT_NS
    })
  }

  /** @param {string} key @param {Frame} frame @param {number} number @param {bigint} ns */
  #takePacket (key, frame, number, ns) {
    const transfer = this.#find(key, ns)
    if (!transfer) {
      // Counts a transfer whose beginning was lost once, and no packets that follow one given up.
      if (number === 1) this.counters.sequenceErrors++
      return null
    }
    transfer.lastNs = ns
    if (isComplete(transfer) || transfer.isBroken) return null
    const { data, offset, next } = transfer
    const start = offset + number * BYTES_PER_PACKET
    const bytes = Math.min(BYTES_PER_PACKET, data.length - start)
    const part = frame.data.subarray(1, 1 + bytes)
    if (number === next - 1 && part.every((byte, i) => byte === data[start + i])) return null // the same frame again
    if (number !== next || part.length < bytes) return this.#miss(key, transfer)

    data.set(part, start)
    transfer.next++
    transfer.received = Math.max(transfer.received, number)
    if (!isComplete(transfer)) return null
    if (!transfer.isManaged) this.#open.delete(key) // otherwise its receiver may still ask for packets again
    return this.#complete(frame, transfer.id, data)
  }

  /** @param {Frame} frame  the last @param {number} id @param {Uint8Array} data @returns {Frame} */
  #complete ({ stamp, bus }, id, data) {
    this.counters.transfers++
    return { stamp, bus, id, extended: true, kind: 'data', fd: false, data }
  }

  /** @param {string} key @param {Transfer} transfer @returns {null} */
  #begin (key, transfer) {
    if (this.#find(key, transfer.lastNs)) this.#giveUp(key, 'aborted')
    if (this.#open.size === 0) this.#sweptNs = transfer.lastNs
    else if (this.#open.size === MAX_TRANSFERS) this.#sweep(transfer.lastNs)
    if (this.#open.size < MAX_TRANSFERS) this.#open.set(key, transfer)
    else this.counters.tooMany++
    return null
  }

  /**
   * A packet is not the one that is due: a receiver may ask for that again, a broadcast is lost.
   * @param {string} key
   * @param {Transfer} transfer
   * @returns {null}
   */
  #miss (key, transfer) {
    if (!transfer.isManaged) return this.#lose(key, transfer)
    transfer.isBroken = true
    this.counters.sequenceErrors++
    return null
  }

  /** @param {string} key @param {Transfer} transfer @returns {null} */
  #lose (key, transfer) {
    this.#open.delete(key)
    if (!transfer.isBroken) this.counters.sequenceErrors++
    return null
  }

  /** @param {string} key @param {'aborted'|'timeouts'} reason */
  #giveUp (key, reason) {
    const transfer = this.#open.get(key)
    this.#open.delete(key)
    if (transfer && !isComplete(transfer)) this.counters[reason]++
  }

  /** @returns {null} */
  #refuse () {
    this.counters.unsupported++
    return null
  }

  /** @param {string} key @param {bigint} ns */
  #find (key, ns) {
    const transfer = this.#open.get(key)
    if (!transfer || !isApart(ns, transfer.lastNs, transfer.timeoutNs)) return transfer
    this.#giveUp(key, 'timeouts')
  }

  /** @param {bigint} ns */
  #sweep (ns) {
    this.#sweptNs = ns
    for (const key of this.#open.keys()) this.#find(key, ns)
  }
}

/** @param {Transfer} transfer */
function isComplete ({ received, packets }) {
  return received === packets
}

/**
 * In either direction: when a log starts over or a clock is set back, nothing stays open.
 * @param {bigint} ns
 * @param {bigint} thenNs
 * @param {bigint} limitNs
 */
function isApart (ns, thenNs, limitNs) {
  return ns - thenNs > limitNs || thenNs - ns > limitNs
}

/**
 * Of a transfer between two nodes or to all; there is one at a time.
 * @param {string} bus
 * @param {number} sender
 * @param {number} receiver
 */
function connectionKey (bus, sender, receiver) {
  return `${sender}>${receiver} ${bus}`
}
