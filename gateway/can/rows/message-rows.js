import { Batch, COLUMN_TYPES } from '../../batch/batch.js'
import { QUALITY_FIELD, qualityColumn, qualityText } from '../../batch/quality.js'
import { sourceAddressOf } from '../j1939/identifier.js'

/**
 * @typedef {import('../dbc/message.js').Message} Message
 * @typedef {import('../candump/line.js').Frame} Frame
 */

/** The content of a cell that is marked as missing. */
const BLANK = { float64: NaN, int64: 0n, string: '' }
/** A bus has many messages, and a batch few rows of each: the room grows with the rows. */
const FIRST_ROOM = 16

/**
 * Gathers the frames of one message from one bus into batches: a row per frame, a column per signal; for J1939 and NMEA 2000 first
 * the source address, and last, where any is an error or reserved, the quality.
 */
export class MessageRows {
  #message
  #source
  #tags
  #fields
  #capacity
  #room
  #rows = 0
  #time
  #addresses
  /** @type {any[]} one per signal */
  #columns
  /** @type {Uint8Array[]} one per signal */
  #validity
  /** @type {boolean[]} per signal, whether any value is missing */
  #gaps
  /** Why values are missing, a text a row; nothing where all are good. @type {(string|undefined)[]} */
  #quality = []

  /** @param {Message} message @param {{source: string, bus: string, capacity: number}} options */
  constructor (message, { source, bus, capacity }) {
    const { signals } = message
    this.#message = message
    this.#source = source
    this.#tags = { bus }
    this.#capacity = capacity
    this.#fields = signals.map(({ name, type, unit }) => ({ name, type, ...(unit && { unit }) }))
    const room = this.#room = Math.min(FIRST_ROOM, capacity)
    this.#time = new BigInt64Array(room)
    this.#addresses = message.isParameterGroup ? new Uint16Array(room) : null
    this.#columns = signals.map(({ type }) => emptyColumn(type, room))
    this.#validity = signals.map(() => new Uint8Array(room))
    this.#gaps = signals.map(() => false)
  }

  get rows () { return this.#rows }

  get isFull () { return this.#rows === this.#capacity }

  /** Must not be called when full. @param {bigint} ns @param {Frame} frame */
  add (ns, { id, data }) {
    const row = this.#rows++
    if (row === this.#room) this.#grow()
    const { signals } = this.#message
    this.#time[row] = ns
    if (this.#addresses) this.#addresses[row] = sourceAddressOf(id)
    /** @type {Map<string, string>|undefined} */
    let faults
    for (let s = 0; s < signals.length; s++) {
      const value = signals[s].read(data)
      const there = value !== undefined
      if (!there) {
        this.#gaps[s] = true
        const fault = signals[s].faultOf(data)
        if (fault) (faults ??= new Map()).set(signals[s].name, fault)
      }
      this.#validity[s][row] = there ? 1 : 0
      this.#columns[s][row] = !there ? BLANK[signals[s].type] : signals[s].type === 'string' ? String(value) : value
    }
    if (faults) this.#quality[row] = qualityText(faults, signals.length)
  }

  /** The batch of the rows gathered so far; the next starts empty. */
  take () {
    const rows = this.#rows
    const quality = this.#quality.length === 0 ? null : qualityColumn(Array.from({ length: rows }, (_, row) => this.#quality[row]))
    const batch = new Batch({
      source: this.#source,
      time: this.#time.slice(0, rows),
      fields: [...this.#addresses ? [this.#addressField()] : [], ...this.#fields, ...quality ? [this.#qualityField()] : []],
      columns: [
        ...this.#addresses ? [this.#addresses.slice(0, rows)] : [],
        ...this.#columns.map(column => column.slice(0, rows)),
        ...quality ? [quality.column] : []
      ],
      validity: [
        ...this.#addresses ? [null] : [],
        ...this.#validity.map((valid, s) => this.#gaps[s] ? valid.slice(0, rows) : null),
        ...quality ? [quality.validity] : []
      ],
      tags: this.#tags
    })
    this.#rows = 0
    this.#gaps.fill(false)
    this.#quality = []
    return batch
  }

  #grow () {
    const room = this.#room = Math.min(2 * this.#room, this.#capacity)
    this.#time = grown(this.#time, new BigInt64Array(room))
    if (this.#addresses) this.#addresses = grown(this.#addresses, new Uint16Array(room))
    this.#columns = this.#columns.map((column, s) => grown(column, emptyColumn(this.#message.signals[s].type, room)))
    this.#validity = this.#validity.map(valid => grown(valid, new Uint8Array(room)))
  }

  /** @returns {import('../../batch/batch.js').Field} */
  #addressField () {
    return { name: this.#isTaken('address') ? 'source_address' : 'address', type: 'uint16' }
  }

  /** @returns {import('../../batch/batch.js').Field} */
  #qualityField () {
    return { name: this.#isTaken(QUALITY_FIELD) ? `signal_${QUALITY_FIELD}` : QUALITY_FIELD, type: 'string' }
  }

  /** @param {string} field */
  #isTaken (field) {
    return this.#fields.some(({ name }) => name.toLowerCase() === field)
  }
}

/** @param {'float64'|'int64'|'string'} type @param {number} room @returns {any} */
function emptyColumn (type, room) {
  return new (/** @type {any} */ (COLUMN_TYPES[type]))(room)
}

/** @template {any} T @param {T} column @param {T} wider  empty @returns {T} with what was in the other */
function grown (column, wider) {
  const [from, to] = /** @type {any[][]} */ ([column, wider])
  for (let row = 0; row < from.length; row++) to[row] = from[row]
  return wider
}
