import { systemClock } from '../../../gateway/clock/system-clock.js'
import { openBus, schema } from '../../../gateway/can/bus/bus.js'
import { readOptions } from '../../../gateway/base/options.js'

/**
 * @typedef {import('../../../gateway/can/bus/bus.js').Frame} Frame
 * @typedef {import('../../../gateway/can/bus/bus.js').Listener} Listener
 */

/** @type {import('../../../gateway/base/log.js').Log} */
export const quiet = { info () {}, warn () {}, error () {} }

/** A function that has things closed, in this order, after each test of the suite that calls this. */
export function closers () {
  /** @type {(() => Promise<void>)[]} */
  let all = []
  afterEach(async () => {
    for (const close of all) await close()
    all = []
  })
  return (/** @type {(() => Promise<void>)[]} */ ...more) => { all.push(...more) }
}

/** @param {object} options @param {Partial<import('../../../gateway/can/bus/bus.js').BusContext>} [context] */
export function open (options, context = {}) {
  return openBus(readOptions(schema, options), { log: quiet, clock: systemClock, ...context })
}

/** @param {number} id @param {number[]} [bytes] @param {Partial<Frame>} [more] @returns {Frame} */
export function frame (id, bytes = [], more = {}) {
  return { stamp: null, bus: '', id, extended: id > 0x7FF, kind: 'data', fd: false, data: Uint8Array.from(bytes), ...more }
}

/** Listens to all, and keeps it. */
export class Ear {
  /** @type {Frame[]} */
  frames = []
  /** @type {bigint[]} */
  times = []
  missed = 0
  paused = false
  /** @type {import('../../../gateway/can/bus/id-filter.js').IdFilter|null} */
  filter = null
  #ended = Promise.withResolvers()
  /** @type {{count: number, resolve: (value: undefined) => void}[]} */
  #waiting = []

  /** Resolves to the error the bus ended with, or undefined. */
  get ended () { return this.#ended.promise }

  isPaused () {
    return this.paused
  }

  /** @param {number} frames */
  miss (frames) {
    this.missed += frames
  }

  /** @param {Frame[]} frames @param {BigInt64Array} times */
  take (frames, times) {
    this.frames.push(...frames)
    this.times.push(...times)
    for (const { count, resolve } of this.#waiting) if (this.frames.length >= count) resolve(undefined)
  }

  /** @param {unknown} [error] */
  end (error) {
    this.#ended.resolve(error)
  }

  /** Until so many frames have been heard. @param {number} count */
  async heard (count) {
    if (this.frames.length >= count) return
    const { promise, resolve } = Promise.withResolvers()
    this.#waiting.push({ count, resolve })
    await promise
  }

  /** What was heard, as a log has it. */
  get lines () {
    return this.frames.map(({ id, kind, data }) => {
      return `${id.toString(16).toUpperCase()}${kind === 'data' ? '' : ` ${kind}`}#${Buffer.from(data).toString('hex').toUpperCase()}`
    })
  }
}
