import { once } from 'node:events'
import { qualityText } from '../batch/quality.js'
import { describe } from '../base/errors.js'
import { Latency } from '../stats/latency.js'
import { QuietLog } from '../base/log.js'
import { Deadband } from './deadband.js'
import { Requests } from './requests.js'
import { Rows } from './rows.js'
import { keepTime } from './schedule.js'

/**
 * @typedef {import('./tags.js').Tag} Tag
 * @typedef {import('./values.js').Cell} Cell
 * @typedef {import('../sources/source.js').SourceContext} SourceContext
 *
 * @typedef {object} Counters
 * @property {number} polls  done
 * @property {number} missed  skipped because the previous one still ran or the source was paused
 * @property {number} late  begun more than half a period late
 * @property {number} skipped  without a row because the device is silent or disconnected and was not asked
 * @property {number} unchanged  without a row because nothing changed beyond its deadband
 * @property {number} errors  requests that failed
 * @property {number} badValues  received but meaningless: NaN, a bad BCD digit
 * @property {number} splits  of requests that the device refused as a whole
 *
 * @typedef {Pick<Tag, 'name'|'area'|'address'|'count'|'read'|'fault'> & {column: number}} PolledTag  what a poll needs of a tag
 *
 * @typedef {object} PollerOptions
 * @property {string} source
 * @property {number} periodMs
 * @property {number} batchMs
 * @property {import('./device.js').Device} device
 * @property {string} deviceName
 * @property {number} concurrency  requests under way at a time
 * @property {Counters} counters
 */

const NS_PER_MS = 1_000_000n
const MAX_ROWS = 1000

/** The device was not asked at all. */
const NOT_ASKED = ['SLUICE_MODBUS_SILENT', 'SLUICE_MODBUS_DISCONNECTED', 'SLUICE_MODBUS_SERIALPORT']

/** What the device itself logs. */
const LOGGED_BY_DEVICE = [...NOT_ASKED, 'SLUICE_MODBUS_TIMEOUT']

/** One poll group: reads its tags each period, a row each time. A row has the time at which its poll began. */
export class Poller {
  /** How late polls begin. */
  lateness = new Latency()
  /** Of the last poll. @type {{missing: number, reason: string}|null} */
  trouble = null
  /** When a silent device may be asked again. @type {bigint|null} */
  askAgainNs = null
  #tags
  #options
  #context
  #clock
  #requests
  #deadband
  #rows
  /** Nothing was read in the last poll. */
  #isDown = true
  #log

  /**
   * @param {Tag[]} tags
   * @param {PollerOptions} options
   * @param {SourceContext & {clock: import('../clock/system-clock.js').Clock}} context
   */
  constructor (tags, options, context) {
    const { source, periodMs, batchMs, device, deviceName, concurrency } = options
    this.#tags = tags.map(({ name, area, address, count, read, fault }, column) => ({ name, area, address, count, read, fault, column }))
    this.#options = options
    this.#context = context
    this.#clock = context.clock
    this.#log = new QuietLog(context.log, () => Number(context.clock.nowNs() / NS_PER_MS))
    this.#requests = new Requests(this.#tags, { device, concurrency, onSplit: (block, blocks) => this.#split(block, blocks.length) })
    this.#deadband = new Deadband(tags, periodMs)
    this.#rows = new Rows(tags, { source, device: deviceName, capacity: Math.min(MAX_ROWS, Math.ceil(batchMs / periodMs) + 1) })
  }

  get tagCount () { return this.#tags.length }

  /** Whether anything was read in the last poll. */
  get isUp () { return !this.#isDown }

  get requestsPerPoll () { return this.#requests.count }

  /**
   * Polls until the signal fires, without waiting for a pending answer; rejects only where emitting rows fails.
   * @param {AbortSignal} signal
   */
  async run (signal) {
    const { periodMs, counters } = this.#options
    const polling = keepTime({
      periodMs,
      clock: this.#clock,
      signal,
      run: turn => this.#poll(turn, signal),
      onMissed: turns => { counters.missed += turns }
    })
    await Promise.race([polling, once(signal, 'abort')])
    this.#flush()
  }

  /** @param {{lateNs: bigint, nextNs: bigint}} turn @param {AbortSignal} signal */
  async #poll ({ lateNs, nextNs }, signal) {
    const { counters, periodMs, batchMs } = this.#options
    if (this.#context.isPaused()) {
      counters.missed++
      return
    }
    this.lateness.record(Number(lateNs) / 1000, 1)
    if (2n * lateNs > BigInt(periodMs) * NS_PER_MS) counters.late++
    const ns = this.#clock.nowNs()
    const outcomes = await this.#requests.read(signal)
    if (signal.aborted) return
    counters.polls++
    this.#take(ns, outcomes)
    if (this.#rows.isFull || (this.#rows.count > 0 && nextNs - this.#rows.firstNs >= BigInt(batchMs) * NS_PER_MS)) this.#flush()
  }

  /** @param {bigint} ns @param {Awaited<ReturnType<Requests['read']>>} outcomes */
  #take (ns, outcomes) {
    const { counters } = this.#options
    /** @type {(Cell|undefined)[]} */
    const cells = new Array(this.#tags.length)
    /** @type {Map<string, string>} */
    const reasons = new Map()
    const outage = reasonOfOutage(outcomes)
    for (const outcome of outcomes) {
      const { address, tags } = outcome.block
      if ('error' in outcome) {
        this.#fail(outcome)
        for (const { name } of tags) reasons.set(name, isNotAsked(outcome) ? outage ?? reasonOf(outcome) : reasonOf(outcome))
        continue
      }
      for (const tag of tags) {
        const value = tag.read(outcome.values, tag.address - address)
        if (value === undefined) {
          counters.badValues++
          reasons.set(tag.name, tag.fault(outcome.values, tag.address - address))
        }
        cells[tag.column] = value
      }
    }

    const wasDown = this.#isDown
    this.#isDown = outcomes.every(outcome => 'error' in outcome)
    const [reason] = reasons.values()
    this.trouble = reasons.size > 0 ? { missing: reasons.size, reason } : null
    const quality = qualityText(reasons, this.#tags.length)
    if (wasDown && outcomes.every(isNotAsked)) counters.skipped++
    else if (this.#deadband.admits(ns, cells, quality)) this.#rows.add(ns, cells, quality)
    else counters.unchanged++
  }

  #flush () {
    if (this.#rows.count > 0) this.#context.emit(this.#rows.take())
  }

  /** @param {import('./requests.js').Failure} failure */
  #fail (failure) {
    const { block, error } = failure
    if (!isNotAsked(failure)) this.#options.counters.errors++
    if (error.code === 'SLUICE_MODBUS_SILENT') {
      this.askAgainNs = this.#clock.nowNs() + BigInt(Math.round(error.details.retryInMs)) * NS_PER_MS
    }
    if (LOGGED_BY_DEVICE.includes(error.code)) return
    this.#log.say(
      'warn',
      `${block.area} ${block.address} ${reasonOf(failure)}`,
      `${this.#options.source}, ${spanOf(block)}: ${describe(error)}`
    )
  }

  /** @param {import('./requests.js').Block} block @param {number} requests  it is read in from now on */
  #split (block, requests) {
    this.#options.counters.splits++
    const { source } = this.#options
    this.#context.log.info(`${source}: the device refuses ${spanOf(block)} in one request; from now on they are read in ${requests}.`)
  }
}

/**
 * Why requests were not sent: the failure of an earlier one in the same poll.
 * @param {Awaited<ReturnType<Requests['read']>>} outcomes
 */
function reasonOfOutage (outcomes) {
  const asked = outcomes.find(outcome => 'error' in outcome && !isNotAsked(outcome) && outcome.error.details?.exception === undefined)
  return asked && reasonOf(/** @type {import('./requests.js').Failure} */ (asked))
}

/** @param {import('./requests.js').Reply|import('./requests.js').Failure} outcome */
function isNotAsked (outcome) {
  return 'error' in outcome && NOT_ASKED.includes(outcome.error.code)
}

/** @param {import('./requests.js').Failure} failure @returns {string} */
function reasonOf ({ error }) {
  return error.details?.quality ?? 'failed'
}

/** @param {import('./plan.js').Span} span */
function spanOf ({ area, address, count }) {
  return `${area.replace('-', ' ')} ${address}${count > 1 ? ` to ${address + count - 1}` : ''}`
}
