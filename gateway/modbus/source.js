import { setMaxListeners } from 'node:events'
import { systemClock } from '../clock/system-clock.js'
import { addressingProperty } from './addresses.js'
import { Poller } from './poller.js'
import { compileTags } from './tags.js'
import { tagsProperty } from './tags.schema.js'
import { readOptions } from '../base/options.js'
import { nameProperty } from '../sources/source.js'

/**
 * @typedef {object} DeviceLease  the device to read
 * @property {import('./device.js').Device} device
 * @property {string} deviceName
 * @property {import('./bytes.js').Order} [order]  of tags that have none
 * @property {number} [pipeline]  requests it accepts at a time
 *
 * @typedef {import('../sources/source.js').SourceContext & DeviceLease} ModbusContext
 */

/** Of all groups together: a device limits how many wait. */
const MAX_REQUESTS = 64

export const schema = {
  type: 'object',
  title: 'Modbus read',
  description: 'Polls the tags of a Modbus device in the fewest requests it allows: a row for each poll of a group, a column for each tag.',
  properties: {
    name: nameProperty('modbus'),
    addressing: addressingProperty,
    tags: tagsProperty,
    groups: {
      type: 'array',
      title: 'Poll groups',
      description: 'How often to read. With several groups, each is a source of its own, named name.group.',
      minItems: 1,
      maxItems: 50,
      default: [{ name: 'default', periodMs: 1000 }],
      'x-unique': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', title: 'Group', description: 'The name that tags refer to.', minLength: 1, maxLength: 100 },
          periodMs: {
            type: 'integer',
            title: 'Period',
            description: 'From one poll to the next. Polls that come due while one still runs are skipped and counted.',
            minimum: 10,
            maximum: 86_400_000,
            default: 1000,
            'x-unit': 'ms'
          }
        }
      }
    },
    batchMs: {
      type: 'integer',
      title: 'Batch',
      description: 'Rows of a group that are read within this time are sent as one batch; 0 sends each row by itself.',
      minimum: 0,
      maximum: 60_000,
      default: 250,
      'x-unit': 'ms',
      'x-advanced': true
    }
  }
}

/**
 * Starts to poll a device. It never gives up: what cannot be read is missing in its row, and the field `quality` says why. A row has the
 * time at which its poll began.
 *
 * Counters as in `Poller`, over all groups.
 * @param {object} options  as in the schema
 * @param {ModbusContext} context
 * @returns {import('../sources/source.js').Source}
 * @throws {SluiceError} SLUICE_OPTIONS
 */
export function openModbusRead (options, context) {
  const source = new ModbusRead(readOptions(schema, options), context)
  return { counters: source.counters, close: () => source.close(), trouble: () => source.trouble(), gauge: () => source.gauge() }
}

class ModbusRead {
  counters = { polls: 0, missed: 0, late: 0, skipped: 0, unchanged: 0, errors: 0, badValues: 0, splits: 0 }
  #device
  #clock
  /** @type {Poller[]} */
  #pollers
  #closing = new AbortController()
  #running

  /** @param {any} options @param {ModbusContext} context */
  constructor ({ name, addressing, tags, groups, batchMs }, context) {
    const { device, deviceName, order, pipeline = 1 } = context
    this.#device = device
    const compiled = compileTags(tags, {
      addressing,
      order,
      limits: device.limits,
      groups: groups.map((/** @type {{name: string}} */ group) => group.name)
    })
    this.#clock = context.clock ?? systemClock
    const concurrency = Math.max(1, Math.min(pipeline, Math.floor(MAX_REQUESTS / groups.length)))
    const withClock = { ...context, clock: this.#clock }
    this.#pollers = groups.flatMap((/** @type {{name: string, periodMs: number}} */ group, /** @type {number} */ index) => {
      const own = compiled.filter(tag => tag.group === group.name || (index === 0 && tag.group === ''))
      const source = groups.length > 1 ? `${name}.${group.name}` : name
      if (own.length === 0) return []
      const pollerOptions = { source, periodMs: group.periodMs, batchMs, device, deviceName, concurrency, counters: this.counters }
      return [new Poller(own, pollerOptions, withClock)]
    })
    const { signal } = this.#closing
    setMaxListeners(0, signal)
    this.#running = Promise.all(this.#pollers.map(poller => poller.run(signal))).then(() => {}, error => {
      if (signal.aborted) return
      this.#closing.abort()
      context.onEnd(error)
    })
  }

  async close () {
    this.#closing.abort()
    await this.#running
  }

  /** @returns {string|undefined} */
  trouble () {
    const { state, lastGoodMs } = this.#device.health
    const isUnasked = state === 'connecting' && this.#pollers.every(({ isUp }) => isUp) // since it was reconnected
    if (state !== 'good' && !isUnasked) {
      const last = lastGoodMs === null ? 'no answer so far' : `last answer ${this.#secondsSince(lastGoodMs)} s ago`
      return `${state}, ${last}${state === 'silent' ? this.#nextTry() : ''}`
    }
    const { missing, all, reason } = this.#missing
    return missing > 0 ? `${missing} of ${all} values missing: ${reason}` : undefined
  }

  get #missing () {
    const troubled = this.#pollers.flatMap(({ trouble }) => trouble ? [trouble] : [])
    const missing = troubled.reduce((sum, trouble) => sum + trouble.missing, 0)
    const all = this.#pollers.reduce((sum, { tagCount }) => sum + tagCount, 0)
    return { missing, all, reason: troubled[0]?.reason ?? '' }
  }

  /** @returns {import('../stats/reader.js').Gauge} */
  gauge () {
    const { health } = this.#device
    const { state, latencyMs, requests, retries, timeouts, exceptions, badReplies, disconnects, queued, lastGoodMs } = health
    const { polls, skipped, unchanged, badValues, splits } = this.counters
    const { missing, all, reason } = this.#missing
    return {
      state,
      valueless: missing > 0 && missing === all ? reason : '',
      lastGoodSecondsAgo: lastGoodMs === null ? null : this.#secondsSince(lastGoodMs),
      latencyMs,
      requests,
      retries,
      timeouts,
      exceptions,
      badReplies,
      disconnects,
      queued,
      polls,
      skipped,
      unchanged,
      badValues,
      splits,
      requestsPerPoll: this.#pollers.reduce((sum, { requestsPerPoll }) => sum + requestsPerPoll, 0),
      latenessP99Ms: Math.max(0, ...this.#pollers.map(({ lateness }) => lateness.summary()?.p99 ?? 0))
    }
  }

  #nextTry () {
    const leftNs = this.#pollers.flatMap(({ askAgainNs }) => askAgainNs === null ? [] : [Number(askAgainNs - this.#clock.nowNs())])
    const seconds = Math.ceil(Math.max(0, ...leftNs) / 1e9)
    return seconds > 0 ? `, next try in ${seconds} s` : ''
  }

  /** @param {number} epochMs */
  #secondsSince (epochMs) {
    return Math.max(0, Math.round((Number(this.#clock.nowNs() / 1_000_000n) - epochMs) / 1000))
  }
}
