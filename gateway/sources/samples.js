import { Batch } from '../batch/batch.js'
import { waveform } from './waveforms.js'

/** @typedef {import('./waveforms.js').Channel} Channel */

const ARRAYS = { float64: Float64Array, float32: Float32Array, int32: Int32Array, int16: Int16Array, uint16: Uint16Array }

/** Keeps the channels of neighbouring seeds from being each other's. */
const SEED_STRIDE = 7919

/** The endless samples of a simulated machine. Sample i has the time start + i·period, the period being whole nanoseconds. */
export class Samples {
  /** index of the sample that comes next */
  next = 0
  #source
  #fields
  #waveforms
  #startNs

  /** @param {{source: string, channels: Channel[], sampleRateHz: number, seed: number, startNs: bigint}} options */
  constructor ({ source, channels, sampleRateHz, seed, startNs }) {
    this.periodNs = BigInt(Math.round(1e9 / sampleRateHz))
    this.#source = source
    this.#startNs = startNs
    this.#fields = channels.map(({ name, type, unit }) => ({ name, type, ...(unit && { unit }) }))
    const seconds = Number(this.periodNs) / 1e9
    this.#waveforms = channels.map((channel, index) => waveform(channel, seconds, seed + index * SEED_STRIDE))
  }

  /** How many of the samples to come have their time at or before this one. @param {bigint} ns */
  dueAt (ns) {
    if (ns < this.#startNs) return 0
    return Math.max(0, Number((ns - this.#startNs) / this.periodNs) + 1 - this.next)
  }

  /** The next samples. @param {number} rows */
  take (rows) {
    const first = this.next
    this.next += rows
    const time = new BigInt64Array(rows)
    for (let row = 0, at = this.#startNs + BigInt(first) * this.periodNs; row < rows; row++, at += this.periodNs) time[row] = at
    const columns = this.#fields.map(({ type }, index) => {
      const column = new ARRAYS[type](rows)
      this.#waveforms[index](column, first)
      return column
    })
    return new Batch({ source: this.#source, time, fields: this.#fields, columns })
  }

  /** Leaves out the next samples; their times pass. @param {number} rows */
  skip (rows) {
    this.next += rows
  }
}
