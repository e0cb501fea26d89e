import { coloursOf } from './colours.js'
import { sinkLevel, sourceLevel } from './levels.js'
import { Rates } from './rates.js'
import { translated } from './text.js'
import { keyOf, Tracks } from './tracks.js'

/**
 * What the page knows of the gateway: the reports of the stream, put together.
 *
 * @typedef {import('../overview/overview.js').Tick} Tick
 * @typedef {import('../overview/overview.js').Balance} Balance
 * @typedef {import('../overview/places.js').Stage} Stage
 * @typedef {import('../overview/places.js').StageState} StageState
 * @typedef {import('../overview/places.js').SinkState} SinkState
 * @typedef {import('../../stats/alarm.js').Alarm} Alarm
 * @typedef {import('./levels.js').Level} Level
 *
 * @typedef {object} SourceRow
 * @property {string} key  of gateway and name
 * @property {string} name
 * @property {string} gateway  '' for this one
 * @property {string|null} nodeId
 * @property {number|null} sent  rows
 * @property {number|null} staged
 * @property {number|null} sentRate  rows a second
 * @property {number|null} stagedRate
 * @property {(number|null)[]} storedRates  by sink
 * @property {number|null} rate  the best known of what it sends
 * @property {number|null} p99  ms, the last that is known
 * @property {number|null} ageMs  of its last row
 * @property {[name: string, value: string|number|boolean|null, unit: string]|null} last
 * @property {string} fill
 * @property {Level} level
 * @property {(number|null)[]} spark
 *
 * @typedef {SinkState & {key: string, id: string, name: string, colour: number, rate: number|null, balance: Balance|null, waiting: number,
 *   level: Level, spark: (number|null)[]}} SinkRow  `waiting`: rows, in spools and in memory
 * @typedef {Stage & StageState & {rate: number|null}} StageRow
 */

const SPARK_VALUES = 60

export class Plant {
  /** The last report. @type {Tick|null} */
  tick = null
  /** @type {SourceRow[]} */
  sources = []
  /** @type {SinkRow[]} */
  sinks = []
  /** @type {StageRow[]} */
  stages = []
  /** @type {Alarm[]} */
  alarms = []
  /** @type {Alarm[]} */
  recent = []
  tracks = new Tracks()
  /** When a sink has stored rows last, as far as this page knows. */
  storedMs = 0
  #storedRows = -1
  #rates = new Rates()
  /** @type {import('../overview/overview.js').Layout} */
  #layout = { number: 0, sources: [], sinks: [], stages: [] }
  /** @type {Map<string, Balance>} */
  #balances = new Map()
  /** By key. @type {Map<string, number>} */
  #p99 = new Map()
  /** @type {Map<string, number>} */
  #colours = new Map()

  get timeMs () { return this.tick?.time ?? Date.now() }
  /** Rows a second, of all sinks. */
  get storedRate () { return sum(this.sinks.map(({ rate }) => rate)) }
  get sentRate () { return sum(this.sources.map(({ rate }) => rate)) }
  get stagedRate () { return sum(this.sources.map(({ stagedRate }) => stagedRate)) }

  /** @param {string} key */
  source (key) { return this.sources.find(each => each.key === key) }
  /** @param {string} id */
  sink (id) { return this.sinks.find(each => each.id === id) }

  /** @param {Tick} tick */
  take (tick) {
    if (this.tick) {
      const isClockBack = tick.time < this.tick.time
      if (isClockBack || tick.process.uptimeSeconds < this.tick.process.uptimeSeconds) this.#rates.clear()
      if (isClockBack) this.tracks = new Tracks()
    }
    this.tick = tick
    if (tick.layout) {
      this.#layout = tick.layout
      this.#colours = coloursOf(tick.layout.sinks.map(({ id }) => id))
    }
    if (tick.alarms) this.alarms = tick.alarms.map(translated)
    if (tick.recent) this.recent = tick.recent.map(translated)
    if (tick.balances) this.#balances = new Map(tick.balances.map(balance => [balance.id, balance]))
    this.#count(tick)
    const storedRows = sum(tick.sinks.map(({ rows }) => rows))
    if (storedRows !== this.#storedRows || tick.time < this.storedMs) this.storedMs = tick.time
    this.#storedRows = storedRows
    this.stages = this.#layout.stages.map((stage, i) => ({ ...stage, ...tick.stages[i], rate: null }))
    this.sinks = this.#layout.sinks.map((sink, i) => this.#sinkRow(sink, tick.sinks[i]))
    this.sources = this.#layout.sources.map((source, i) => this.#sourceRow(source, tick, i))
    this.tracks.push(tick.time, this.#values(tick))
    for (const row of this.sources) row.spark = this.tracks.last(sourceKey(row, 'rows'), SPARK_VALUES)
    for (const row of this.sinks) row.spark = this.tracks.last(keyOf('sink', row.id, 'rows'), SPARK_VALUES)
  }

  /** @param {Tick} tick */
  #count ({ time, sources, stored, sinks }) {
    const { sources: names, sinks: ids } = this.#layout
    for (const [i, source] of names.entries()) {
      const key = rowKey(source)
      const [sent, staged, p99] = [sources.sent[i], sources.staged[i], sources.p99[i]]
      if (sent !== null) this.#rates.push(`sent ${key}`, time, sent)
      if (staged !== null) this.#rates.push(`staged ${key}`, time, staged)
      if (p99 !== null) this.#p99.set(key, p99)
      if (stored) for (const [j, { id }] of ids.entries()) this.#rates.push(`${id} ${key}`, stored.timeMs, stored.rows[j][i])
    }
    for (const [j, { id }] of ids.entries()) {
      this.#rates.push(id, time, sinks[j].rows)
      const { p99 } = sinks[j]
      if (p99 !== null) this.#p99.set(id, p99)
    }
  }

  /** @param {{id: string, name: string}} sink @param {SinkState} state @returns {SinkRow} */
  #sinkRow ({ id, name }, state) {
    const balance = this.#balances.get(id) ?? null
    const rate = this.#rates.of(id)
    const waiting = Math.max(state.waitingRows, balance ? balance.inFlight + balance.parked : 0)
    const level = sinkLevel(state, this.alarms.filter(({ subject }) => subject.type === 'sink' && (subject.nodeId ?? subject.name) === id))
    const p99 = this.#p99.get(id) ?? null
    return { ...state, key: id, id, name, colour: this.#colours.get(id) ?? 0, p99, rate, balance, waiting, level, spark: [] }
  }

  /** @param {{name: string, gateway: string, nodeId: string|null}} source @param {Tick} tick @param {number} i @returns {SourceRow} */
  #sourceRow (source, { sources: { sent, staged, ageMs, last, fills } }, i) {
    const { name, gateway, nodeId } = source
    const key = rowKey(source)
    const [sentRate, stagedRate] = [this.#rates.of(`sent ${key}`), this.#rates.of(`staged ${key}`)]
    const storedRates = this.sinks.map(({ id }) => this.#rates.of(`${id} ${key}`))
    const rate = sent[i] !== null ? sentRate : staged[i] !== null ? stagedRate : greatest(storedRates)
    const its = this.alarms.filter(({ subject }) => {
      return subject.type === 'source' && (subject.name === name || nodeId !== null && subject.nodeId === nodeId)
    })
    const level = sourceLevel(fills[i], ageMs[i] !== null || (rate ?? 0) > 0, its)
    const p99 = this.#p99.get(key) ?? null
    return {
      key, name, gateway, nodeId, sent: sent[i], staged: staged[i], sentRate, stagedRate, storedRates, rate, p99, ageMs: ageMs[i],
      last: last[i], fill: fills[i], level, spark: []
    }
  }

  /** What is remembered for the charts. @param {Tick} tick @returns {Map<string, number|null>} */
  #values (tick) {
    /** @type {Map<string, number|null>} */
    const values = new Map()
    for (const row of this.sources) {
      values.set(sourceKey(row, 'rows'), row.rate)
      values.set(keyOf('stage', row.name, 'rows'), row.stagedRate)
      values.set(keyOf('stage', row.name, 'latencyP99'), row.p99)
    }
    for (const [i, row] of this.sinks.entries()) {
      values.set(keyOf('sink', row.id, 'rows'), row.rate)
      values.set(keyOf('sink', row.id, 'latencyP50'), tick.sinks[i].p50)
      values.set(keyOf('sink', row.id, 'latencyP99'), tick.sinks[i].p99)
      values.set(keyOf('sink', row.id, 'writeP50'), row.writeP50)
      values.set(keyOf('sink', row.id, 'writeP99'), row.writeP99)
      values.set(keyOf('sink', row.id, 'waitingRows'), row.waitingRows)
    }
    for (const { kind, name, unstoredBytes, bytes } of this.stages) {
      if (kind !== 'out') continue
      values.set(keyOf('spool', name, 'unstoredBytes'), unstoredBytes)
      values.set(keyOf('spool', name, 'bytes'), bytes)
    }
    const { cpuPercent, rssBytes, eventLoopDelayMs } = tick.process
    values.set('process/gateway/cpu', cpuPercent)
    values.set('process/gateway/memory', rssBytes)
    values.set('process/gateway/loopDelay', eventLoopDelayMs)
    return values
  }
}

/** @param {{gateway: string, name: string}} source */
export function rowKey ({ gateway, name }) { return gateway === '' ? name : `${gateway}/${name}` }

/** @param {SourceRow} source @param {string} measure */
export function sourceKey ({ key }, measure) { return keyOf('source', key, measure) }

/** @param {(number|null)[]} values  null where none is known */
function greatest (values) {
  const known = values.filter(value => value !== null)
  return known.length > 0 ? Math.max(...known) : null
}

/** @param {(number|null)[]} values */
function sum (values) { return values.reduce((/** @type {number} */ total, value) => total + (value ?? 0), 0) }
