import { Batch } from '../batch/batch.js'
import { qualityColumn, qualityText } from '../batch/quality.js'
import { derive } from '../base/random.js'
import { Steps } from './steps.js'
import { Trouble } from './trouble.js'
import { waveform } from './waveforms.js'

/**
 * @typedef {import('./waveforms.js').Channel} Channel
 * @typedef {import('./presets/preset.js').Generator} Generator
 */

const ARRAYS = { float64: Float64Array, float32: Float32Array, int32: Int32Array, int16: Int16Array, uint16: Uint16Array }

const MAX_BATCH_BYTES = 2 ** 22
const DROPOUT = 'dropout'

/** @type {import('./trouble.js').TroubleOptions} */
export const NO_TROUBLE = {
  spikesPerHour: 0,
  spikeSize: 0,
  dropoutsPerHour: 0,
  dropoutSeconds: 0,
  stuckPerHour: 0,
  stuckSeconds: 0,
  driftPerHour: 0
}

/**
 * The endless samples of a simulated machine: a row each, a column per channel. Sample i has the time start + i·period, the period being
 * whole nanoseconds.
 * @implements {Generator}
 */
export class Samples {
  rows = 1
  #next = 0
  #source
  #tags
  #fields
  #signals
  #steps

  /**
   * @param {object} options
   * @param {string} options.source
   * @param {Channel[]} options.channels
   * @param {number} options.sampleRateHz
   * @param {number} options.seed
   * @param {bigint} options.startNs
   * @param {import('./trouble.js').TroubleOptions} [options.trouble]
   * @param {Record<string, string>} [options.tags]
   */
  constructor ({ source, channels, sampleRateHz, seed, startNs, trouble = NO_TROUBLE, tags = {} }) {
    this.#source = source
    this.#tags = tags
    this.#steps = new Steps({ startNs, periodSeconds: 1 / sampleRateHz })
    this.#fields = channels.map(({ name, type, unit }) => ({ name, type, ...(unit && { unit }) }))
    this.#signals = channels.map((channel, index) => signal(channel, trouble, this.#steps.periodSeconds, derive(seed, index)))
    const rowBytes = channels.reduce((bytes, { type }) => bytes + ARRAYS[type].BYTES_PER_ELEMENT, 8)
    this.maxAtOnce = Math.max(1, Math.floor(MAX_BATCH_BYTES / rowBytes))
  }

  /** @param {bigint} ns */
  dueAt (ns) {
    return Math.max(0, this.#steps.until(ns) - this.#next)
  }

  /** @param {number} count */
  take (count) {
    const first = this.#next
    this.#next += count
    const columns = this.#fields.map(({ type }) => new ARRAYS[/** @type {keyof ARRAYS} */ (type)](count))
    const validity = this.#signals.map((fill, c) => fill(columns[c], first))
    const quality = qualityColumn(this.#dropoutTexts(validity, count))
    return [new Batch({
      source: this.#source,
      time: this.#steps.times(first, count),
      fields: quality ? [...this.#fields, quality.field] : this.#fields,
      columns: quality ? [...columns, quality.column] : columns,
      validity: quality ? [...validity, quality.validity] : validity,
      tags: this.#tags
    })]
  }

  /** @param {number} count */
  skip (count) {
    this.#next += count
  }

  /** @param {(Uint8Array|null)[]} validity @param {number} rows @returns {(string|undefined)[]} */
  #dropoutTexts (validity, rows) {
    const gaps = validity.flatMap((valid, c) => valid ? [{ valid, name: this.#fields[c].name }] : [])
    if (gaps.length === 0) return []
    return Array.from({ length: rows }, (_, row) => {
      const missing = gaps.filter(({ valid }) => !valid[row])
      return missing.length === 0 ? undefined : qualityText(new Map(missing.map(({ name }) => [name, DROPOUT])), validity.length)
    })
  }
}

/** Samples by the options of a preset with rate and trouble. @param {any} options @param {Channel[]} channels @param {bigint} startNs */
export function samplesOf (options, channels, startNs) {
  const { name, sampleRateHz, seed } = options
  return new Samples({ source: name, channels, sampleRateHz, seed, startNs, trouble: options })
}

/**
 * A function that fills a column from index `first` on, and returns its validity.
 * @param {Channel} channel @param {import('./trouble.js').TroubleOptions} options @param {number} seconds @param {number} seed
 * @returns {(column: import('./waveforms.js').NumberColumn, first: number) => Uint8Array|null}
 */
function signal (channel, options, seconds, seed) {
  const trouble = new Trouble(options, { amplitude: channel.amplitude, seconds, seed })
  const fill = waveform(channel, seconds, seed, (values, first) => trouble.spoil(values, first))
  if (channel.shape === 'counter') {
    return (column, first) => {
      fill(column, first)
      return null
    }
  }
  return (column, first) => {
    fill(column, first)
    const valid = trouble.validity(first, column.length)
    if (valid) for (let row = 0; row < valid.length; row++) if (!valid[row]) column[row] = NaN
    return valid
  }
}
