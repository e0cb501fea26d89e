/**
 * The statistics of a CAN bus: rates, load, errors by class, the controller's error state.
 *
 * @typedef {import('../candump/line.js').Frame} Frame
 * @typedef {'error-active'|'error-warning'|'error-passive'|'bus-off'} BusState  of the own controller, ISO 11898-1
 *
 * @typedef {object} BusReport
 * @property {number} frames  data and remote frames in all
 * @property {number} framesPerSecond  over the last second
 * @property {number|null} loadPercent  of the bus' time over the last second; null where its bit rate is not known
 * @property {number} errorFrames  in all; each counts under one or more of the classes
 * @property {number} transmitTimeouts
 * @property {number} lostArbitrations
 * @property {number} controllerProblems  overflows and changes of the error state
 * @property {number} protocolViolations
 * @property {number} transceiverFaults
 * @property {number} missingAcknowledgements
 * @property {number} busOffs
 * @property {number} busErrors
 * @property {number} restarts
 * @property {number} transmitErrorCounter  of the controller, as its last error frame reports
 * @property {number} receiveErrorCounter
 * @property {number} drops  frames that were on the bus and were lost on the way here
 * @property {BusState} state
 */

/** Classes of error frames by their bit in the identifier, linux/can/error.h. @type {[bit: number, name: ErrorClass][]} */
const ERROR_CLASSES = [
  [0x001, 'transmitTimeouts'],
  [0x002, 'lostArbitrations'],
  [0x004, 'controllerProblems'],
  [0x008, 'protocolViolations'],
  [0x010, 'transceiverFaults'],
  [0x020, 'missingAcknowledgements'],
  [0x040, 'busOffs'],
  [0x080, 'busErrors'],
  [0x100, 'restarts']
]
const CONTROLLER = 0x004
const BUS_OFF = 0x040
const RESTARTED = 0x100
const COUNTERS = 0x200

// Of data byte 1 of a controller problem.
const WARNING = 0x0C
const PASSIVE = 0x30
const RECOVERED = 0x40

const WARNING_COUNT = 96
const PASSIVE_COUNT = 128

const SLOT_NS = 10_000_000
const SLOTS_PER_SECOND = 100
// The slot that is being filled is beside the second that is reported.
const SLOTS = SLOTS_PER_SECOND + 1

/**
 * @typedef {'transmitTimeouts'|'lostArbitrations'|'controllerProblems'|'protocolViolations'|'transceiverFaults'|
 *   'missingAcknowledgements'|'busOffs'|'busErrors'|'restarts'} ErrorClass
 */

/** Counts what a bus carries. */
export class BusStatistics {
  /** Bits a second; 0: not known (yet). */
  bitrate
  /** Of the data of CAN FD frames; 0: the same. */
  dataBitrate
  #frames = 0
  #errorFrames = 0
  #drops = 0
  /** @type {Record<ErrorClass, number>} */
  #errors = {
    transmitTimeouts: 0,
    lostArbitrations: 0,
    controllerProblems: 0,
    protocolViolations: 0,
    transceiverFaults: 0,
    missingAcknowledgements: 0,
    busOffs: 0,
    busErrors: 0,
    restarts: 0
  }

  #transmitErrorCounter = 0
  #receiveErrorCounter = 0
  /** @type {BusState} */
  #state = 'error-active'
  // A ring: what each slot of 10 ms has carried, and its number.
  #slotNumbers = new Float64Array(SLOTS).fill(-1)
  #slotFrames = new Float64Array(SLOTS)
  #slotBits = new Float64Array(SLOTS)
  #slotDataBits = new Float64Array(SLOTS)
  #lastSlot = 0

  /** @param {{bitrate: number, dataBitrate?: number}} options  bits a second, 0 where not known; both may be set later */
  constructor ({ bitrate, dataBitrate = 0 }) {
    this.bitrate = bitrate
    this.dataBitrate = dataBitrate
  }

  /** @returns {BusState} */
  get state () { return this.#state }

  /**
   * A frame as it was on the bus, not a reassembled message.
   * @param {Frame} frame
   * @param {bigint} ns  when it was on the bus, of the source clock
   */
  count (frame, ns) {
    if (frame.kind === 'error') return this.#countError(frame)
    this.#frames++
    // Only a controller that is on the bus again hears anything.
    if (this.#state === 'bus-off') this.#state = 'error-active'

    const number = Math.floor(Number(ns) / SLOT_NS)
    const slot = number % SLOTS
    this.#lastSlot = number
    if (this.#slotNumbers[slot] !== number) {
      this.#slotNumbers[slot] = number
      this.#slotFrames[slot] = this.#slotBits[slot] = this.#slotDataBits[slot] = 0
    }
    const { bits, dataBits } = bitsOnBus(frame)
    this.#slotFrames[slot]++
    this.#slotBits[slot] += bits
    this.#slotDataBits[slot] += dataBits
  }

  /** Frames that the controller, the kernel or a full queue has lost. @param {number} frames */
  drop (frames) {
    this.#drops += frames
  }

  /**
   * The last second ends at most 10 ms before `nowNs`, or before the last frame where times run ahead of the clock or without `nowNs`.
   * @param {bigint} [nowNs]
   * @returns {BusReport}
   */
  report (nowNs = 0n) {
    const end = Math.max(Math.floor(Number(nowNs) / SLOT_NS), this.#lastSlot)
    let frames = 0
    let bits = 0
    let dataBits = 0
    for (let slot = 0; slot < SLOTS; slot++) {
      const age = end - this.#slotNumbers[slot]
      if (age < 1 || age > SLOTS_PER_SECOND) continue
      frames += this.#slotFrames[slot]
      bits += this.#slotBits[slot]
      dataBits += this.#slotDataBits[slot]
    }
    const { bitrate, dataBitrate } = this
    const load = bitrate > 0 ? bits / bitrate + dataBits / (dataBitrate || bitrate) : null
    return {
      frames: this.#frames,
      framesPerSecond: frames,
      loadPercent: load === null ? null : Math.round(load * 10_000) / 100,
      errorFrames: this.#errorFrames,
      ...this.#errors,
      transmitErrorCounter: this.#transmitErrorCounter,
      receiveErrorCounter: this.#receiveErrorCounter,
      drops: this.#drops,
      state: this.#state
    }
  }

  /** @param {Frame} frame */
  #countError ({ id, data }) {
    this.#errorFrames++
    for (const [bit, name] of ERROR_CLASSES) if (id & bit) this.#errors[name]++
    if (id & COUNTERS) {
      this.#transmitErrorCounter = data[6] ?? 0
      this.#receiveErrorCounter = data[7] ?? 0
    }
    this.#state = stateAfter(id, data) ?? this.#state
  }
}

/** The state that an error frame reports, if any. @param {number} id @param {Uint8Array} data @returns {BusState|undefined} */
function stateAfter (id, data) {
  if (id & BUS_OFF) return 'bus-off'
  if (id & RESTARTED) return 'error-active'
  const controller = id & CONTROLLER ? data[1] : 0
  if (controller & PASSIVE) return 'error-passive'
  if (controller & WARNING) return 'error-warning'
  if (controller & RECOVERED) return 'error-active'
  if (id & COUNTERS) return stateOfCount(Math.max(data[6] ?? 0, data[7] ?? 0))
}

/** @param {number} count @returns {BusState} */
function stateOfCount (count) {
  if (count >= PASSIVE_COUNT) return 'error-passive'
  return count >= WARNING_COUNT ? 'error-warning' : 'error-active'
}

/** Data length codes by bytes: 9 to 15 are 12, 16, 20, 24, 32, 48 and 64 of CAN FD. */
const DATA_LENGTH_CODES = Uint8Array.from({ length: 65 }, (_, bytes) =>
  bytes <= 8 ? bytes : 9 + [12, 16, 20, 24, 32, 48, 64].findIndex(most => bytes <= most))

// After the last stuffed bit: CRC delimiter, acknowledge slot and delimiter, 7 bits of end of frame, 3 between frames.
const TRAILER_BITS = 13
const CRC15_BITS = 15
// CAN FD's: stuff count, CRC, and a fixed stuff bit before each four of these bits.
const CRC17_FIELD_BITS = 4 + 17 + 6
const CRC21_FIELD_BITS = 4 + 21 + 7
const MAX_BYTES_OF_CRC17 = 16

/**
 * How many bits a frame takes on the bus, stuff bits and the pause of 3 bits after it included: exactly, from its bits and its CRC (ISO
 * 11898-1:2015). A CAN FD frame counts as one that switches its bit rate: `dataBits` are those at the data bit rate, from the error state
 * indicator to the end of the CRC.
 * @param {Frame} frame
 * @returns {{bits: number, dataBits: number}}
 */
export function bitsOnBus (frame) {
  return frame.fd ? bitsOfFd(frame) : bitsOfClassic(frame)
}

/** @param {Frame} frame */
function bitsOfClassic ({ id, extended, kind, data }) {
  const length = Math.min(data.length, 8)
  const remote = kind === 'remote' ? 1 : 0
  const control = remote << 6 | length // and two zeros: IDE or reserved, reserved
  let stuff = START_OF_FRAME
  let crc = 0
  if (extended) {
    const base = id >>> 18 << 2 | 0b11 // substitute remote request, IDE
    stuff = stuffed(stuffed(stuffed(stuff, base, 13), id & 0x3FFFF, 18), control, 7)
    crc = crc15(crc15(crc15(crc, base, 13), id & 0x3FFFF, 18), control, 7)
  } else {
    stuff = stuffed(stuffed(stuff, id, 11), control, 7)
    crc = crc15(crc15(crc, id, 11), control, 7)
  }
  for (let i = 0; i < length; i++) {
    stuff = stuffed(stuff, data[i], 8)
    crc = crc15(crc, data[i], 8)
  }
  stuff = stuffed(stuff, crc, CRC15_BITS)
  const header = extended ? 39 : 19
  return { bits: header + 8 * length + CRC15_BITS + stuffBits(stuff) + (isStuffBitDue(stuff) ? 1 : 0) + TRAILER_BITS, dataBits: 0 }
}

/** @param {Frame} frame */
function bitsOfFd ({ id, extended, data }) {
  const length = Math.min(data.length, 64)
  let stuff = START_OF_FRAME
  if (extended) stuff = stuffed(stuffed(stuffed(stuff, id >>> 18 << 2 | 0b11, 13), id & 0x3FFFF, 18), 0b0101, 4)
  else stuff = stuffed(stuffed(stuff, id, 11), 0b00101, 5)
  const header = (extended ? 36 : 17) + stuffBits(stuff)
  const before = stuffBits(stuff)

  stuff = stuffed(stuff, DATA_LENGTH_CODES[length], 5) // the error state indicator before it is 0: error active
  for (let i = 0; i < length; i++) stuff = stuffed(stuff, data[i], 8)
  // A stuff bit that is due after the data is the CRC field's first fixed one.
  const crcField = length > MAX_BYTES_OF_CRC17 ? CRC21_FIELD_BITS : CRC17_FIELD_BITS
  return { bits: header + TRAILER_BITS, dataBits: 5 + 8 * length + stuffBits(stuff) - before + crcField }
}

/*
 * Bit stuffing: after five equal bits comes one of the other value, which counts as the first of the next five. A number holds how many
 * stuff bits there were and, in its low four bits, the last bit (times 5) and how many equal ones before it. The stuff bit after five is
 * added with the bit that follows.
 */

const START_OF_FRAME = 0

/** @param {number} stuff */
const stuffBits = stuff => stuff >> 4

/** @param {number} stuff */
const isStuffBitDue = stuff => (stuff & 15) % 5 === 4

/** @param {number} stuff @param {number} value @param {number} length  bits of the value, the most significant first */
function stuffed (stuff, value, length) {
  while (length > 0) {
    const now = Math.min(length, 8)
    length -= now
    stuff = (stuff & ~15) + STUFFING[(stuff & 15) << 12 | now << 8 | (value >>> length & (1 << now) - 1)]
  }
  return stuff
}

/** What up to eight bits do, by the state before, their number and value. */
const STUFFING = Uint8Array.from({ length: 10 << 12 }, (_, index) => {
  let stuff = index >> 12
  for (let n = (index >> 8 & 15) - 1; n >= 0; n--) stuff = stuffedBit(stuff, index >> n & 1)
  return stuff
})

/** @param {number} stuff @param {number} bit */
function stuffedBit (stuff, bit) {
  if (isStuffBitDue(stuff)) stuff = (stuff & ~15) + 16 + 5 * (1 - lastBit(stuff))
  return bit === lastBit(stuff) ? stuff + 1 : (stuff & ~15) + 5 * bit
}

/** @param {number} stuff */
function lastBit (stuff) {
  return (stuff & 15) < 5 ? 0 : 1
}

const CRC15_POLYNOMIAL = 0x4599

/** @param {number} crc @param {number} value @param {number} length  bits of the value, the most significant first */
function crc15 (crc, value, length) {
  while (length > 0) {
    const now = Math.min(length, 8)
    length -= now
    crc = (crc << now & 0x7FFF) ^ CRC15[(crc >> CRC15_BITS - now ^ value >>> length) & (1 << now) - 1]
  }
  return crc
}

const CRC15 = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 7
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x4000 ? (crc << 1 ^ CRC15_POLYNOMIAL) & 0x7FFF : crc << 1
  return crc
})
