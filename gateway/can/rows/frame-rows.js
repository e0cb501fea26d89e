import { Batch } from '../../batch/batch.js'
import { MAX_ROWS } from './rows.js'
import { RowsByBus } from './rows-by-bus.js'

/**
 * @typedef {import('../candump/line.js').Frame} Frame
 * @typedef {import('./rows.js').Rows} Rows
 * @typedef {import('./rows.js').Sorter} Sorter
 */

/**
 * Rows of frames as they are: one source, a row per frame, error frames too.
 * @implements {Sorter}
 */
export class FrameSorter {
  #name
  #counters
  /** @type {RowsByBus<'all', FrameRows>} */
  #rows = new RowsByBus()
  /** @type {Record<string, number>} */
  transported = {}

  /** @param {{name: string, counters: {rows: number, errorFrames: number}}} options */
  constructor ({ name, counters }) {
    this.#name = name
    this.#counters = counters
  }

  /** @param {bigint} ns @param {Frame} frame */
  put (ns, frame) {
    if (frame.kind === 'error') this.#counters.errorFrames++
    const rows = this.#rows.get(frame.bus, 'all', bus => new FrameRows(this.#name, bus))
    rows.add(ns, frame)
    this.#counters.rows++
    return rows
  }

  all () {
    return this.#rows.all()
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
        { name: 'id', type: 'int32' },
        { name: 'extended', type: 'bool' },
        { name: 'fd', type: 'bool' },
        { name: 'kind', type: 'string' },
        { name: 'length', type: 'uint16', unit: 'bytes' },
        { name: 'data', type: 'bytes' }
      ],
      columns: [
        Int32Array.from(frames, ({ id }) => id),
        Uint8Array.from(frames, ({ extended }) => Number(extended)),
        Uint8Array.from(frames, ({ fd }) => Number(fd)),
        frames.map(({ kind }) => kind),
        Uint16Array.from(frames, ({ data }) => data.length),
        frames.map(({ data }) => data)
      ],
      tags: { bus: this.#bus }
    })
    this.#times = []
    this.#frames = []
    return batch
  }
}
