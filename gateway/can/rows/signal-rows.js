import { Batch } from '../../batch/batch.js'
import { Decoder } from '../dbc/decoder.js'
import { TransportAssembler } from '../j1939/transport.js'
import { MessageRows } from './message-rows.js'

/**
 * Sorts frames into rows of batches. What is no row is counted.
 *
 * @typedef {import('../candump/line.js').Frame} Frame
 * @typedef {import('../dbc/message.js').Message} Message
 *
 * @typedef {object} Rows
 * @property {number} rows  gathered so far
 * @property {boolean} isFull
 * @property {(ns: bigint, frame: Frame) => void} add
 * @property {() => Batch} take  them, which are forgotten there
 *
 * @typedef {object} Sorter
 * @property {(ns: bigint, frame: Frame) => Rows|undefined} put  into the rows that it gives back
 * @property {() => Iterable<Rows>} all
 * @property {Record<string, number>} transported  counters of messages that come in several frames
 *
 * @typedef {{rows: number, unknownIds: number, undecodable: number, otherFrames: number, errorFrames: number}} RowCounters
 */

const MAX_ROWS = 1000
/** A log, or someone's messages, can name any number of buses: those that come later share one place. */
const MAX_BUSES = 32
const OTHER_BUSES = 'others'

/**
 * Rows of signals: a source per message, `<name>.<message>`, in which each frame is a row, or where J1939 and NMEA 2000 send one in
 * several, each message. It counts what the DBC file does
 * not know (`unknownIds`), what is too short for any signal (`undecodable`), and what holds no signal: `errorFrames`,
 * and as `otherFrames` remote frames and messages that have none.
 * @implements {Sorter}
 */
export class SignalRows {
  #name
  #decoder
  #transport
  #counters
  #warnOnce
  /** @type {Map<string, Map<Message, MessageRows>>} by bus */
  #gathered = new Map()

  /**
   * @param
   *   {{name: string, messages: Message[], choices: 'numbers'|'texts', counters: RowCounters, warnOnce: (kind: string, text: string) => void}}
   *   options
   */
  constructor ({ name, messages, choices, counters, warnOnce }) {
    this.#name = name
    const decoder = this.#decoder = new Decoder(messages, { choices })
    this.#transport = transportOf(messages, decoder)
    this.#counters = counters
    this.#warnOnce = warnOnce
  }

  /** Of the messages of several frames. @returns {Record<string, number>} */
  get transported () { return this.#transport?.counters ?? {} }

  /** @param {bigint} ns @param {Frame} frame */
  put (ns, frame) {
    const whole = this.#transport ? this.#transport.take(frame, ns) : frame
    const rows = whole && this.#rowsOf(whole)
    if (!rows) return undefined
    rows.add(ns, whole)
    this.#counters.rows++
    return rows
  }

  * all () {
    for (const ofBus of this.#gathered.values()) yield * ofBus.values()
  }

  /** @param {Frame} frame */
  #rowsOf ({ kind, id, extended, data, bus }) {
    const counters = this.#counters
    if (kind !== 'data') {
      counters[kind === 'error' ? 'errorFrames' : 'otherFrames']++
      return undefined
    }
    const message = this.#decoder.find(id, extended)
    if (!message) {
      counters.unknownIds++
      return undefined
    }
    if (message.signals.length === 0) {
      counters.otherFrames++
      return undefined
    }
    if (data.length < message.bytes) {
      counters.undecodable++
      this.#warnOnce('short', `${message.name} of ${data.length} data bytes is too short for any of its signals. Such frames are counted and left out.`)
      return undefined
    }
    const ofBus = placeOf(this.#gathered, bus)
    const rows = ofBus.rows.get(message) ?? new MessageRows(message, { source: `${this.#name}.${message.name}`, bus: ofBus.name, capacity: MAX_ROWS })
    ofBus.rows.set(message, rows)
    return rows
  }
}

/**
 * Rows of frames as they are: one source, a row per frame, error frames too.
 * @implements {Sorter}
 */
export class RawRows {
  #name
  #counters
  /** @type {Map<string, Map<'all', FrameRows>>} by bus */
  #gathered = new Map()

  /** @param {{name: string, counters: RowCounters}} options */
  constructor ({ name, counters }) {
    this.#name = name
    this.#counters = counters
  }

  get transported () { return {} }

  /** @param {bigint} ns @param {Frame} frame */
  put (ns, frame) {
    if (frame.kind === 'error') this.#counters.errorFrames++
    const ofBus = placeOf(this.#gathered, frame.bus)
    const rows = ofBus.rows.get('all') ?? new FrameRows(this.#name, ofBus.name)
    ofBus.rows.set('all', rows)
    rows.add(ns, frame)
    this.#counters.rows++
    return rows
  }

  * all () {
    for (const ofBus of this.#gathered.values()) yield * ofBus.values()
  }
}

/** @implements {Rows} */
class FrameRows {
  #source
  #bus
  /** @type {bigint[]} */
  #times = []
  /** @type {Frame[]} */
  #frames = []

  /** @param {string} source @param {string} bus */
  constructor (source, bus) {
    this.#source = source
    this.#bus = bus
  }

  get rows () { return this.#frames.length }

  get isFull () { return this.#frames.length >= MAX_ROWS }

  /** @param {bigint} ns @param {Frame} frame */
  add (ns, frame) {
    this.#times.push(ns)
    this.#frames.push(frame)
  }

  take () {
    const frames = this.#frames
    const batch = new Batch({
      source: this.#source,
      time: BigInt64Array.from(this.#times),
      fields: [
        { name: 'id', type: 'int32' }, { name: 'extended', type: 'bool' }, { name: 'fd', type: 'bool' }, { name: 'kind', type: 'string' },
        { name: 'length', type: 'uint16', unit: 'bytes' }, { name: 'data', type: 'bytes' }
      ],
      columns: [
        Int32Array.from(frames, ({ id }) => id), Uint8Array.from(frames, ({ extended }) => Number(extended)), Uint8Array.from(frames, ({ fd }) => Number(fd)),
        frames.map(({ kind }) => kind), Uint16Array.from(frames, ({ data }) => data.length), frames.map(({ data }) => data)
      ],
      tags: { bus: this.#bus }
    })
    this.#times = []
    this.#frames = []
    return batch
  }
}

/**
 * What puts together the messages of several frames, on a bus that has such.
 * @param {Message[]} messages @param {Decoder<any>} decoder  of these
 * @returns {TransportAssembler|null}
 */
export function transportOf (messages, decoder) {
  return messages.some(({ isParameterGroup }) => isParameterGroup) ? new TransportAssembler({ isFastPacket: pgn => decoder.isLongGroup(pgn) }) : null
}

/**
 * The rows of a bus, by whatever they are kept.
 * @template K, R
 * @param {Map<string, Map<K, R>>} gathered
 * @param {string} bus
 */
function placeOf (gathered, bus) {
  const name = gathered.has(bus) || gathered.size < MAX_BUSES ? bus : OTHER_BUSES
  const rows = gathered.get(name) ?? /** @type {Map<K, R>} */ (new Map())
  gathered.set(name, rows)
  return { name, rows }
}
