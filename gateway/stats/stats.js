import { nowNs as systemNowNs } from '../clock/system-clock.js'
import { describe } from '../base/errors.js'
import { joined } from './ledger.js'
import { Meter } from './meter.js'
import { Reader } from './reader.js'

/**
 * @typedef {import('./meter.js').Stage} Stage
 * @typedef {import('./reader.js').Gauge} Gauge
 * @typedef {import('./reader.js').Report} Report
 * @typedef {import('./ledger.js').Line} Line
 * @typedef {{follow: (meter: Meter, totals: import('./meter.js').Totals) => void, unfollow: (meter: Meter) => void}} Follower
 */

/**
 * Observes every step of the data: meters count what passes, gauges show what waits, readers report both.
 */
export class Stats {
  /** @type {Map<string, Meter>} */
  #meters = new Map()
  /** By name and node. @type {Map<string, {name: string, read: () => Gauge, nodeId: string|undefined}>} */
  #gauges = new Map()
  /** As they are shown; null while that is to be found out. @type {Map<string, {read: () => Gauge, nodeId: string|undefined}>|null} */
  #named = null
  /** What the nodes say of themselves in the editor, by their ids. @type {Map<string, {fill?: string, shape?: string, text?: string}>} */
  statuses = new Map()
  /** @type {Set<() => Line[]>} */
  #balances = new Set()
  /** By the nodes of the spools. @type {Map<string, {own: () => Line[], remote: () => Line[]}>} */
  #spooled = new Map()
  /** The nodes of the sinks that some stage in leads to, whether it runs or not. @type {Set<string>} */
  staged = new Set()
  /** @type {Set<Reader>} */
  readers = new Set()
  /** Who else is told of meters that come and go. @type {Set<Follower>} */
  followers = new Set()
  /** The machine's health, where a data folder is known. @type {import('./host/host.js').Host|null} */
  host = null
  /** What is wrong, where it is judged. @type {import('./alarm.js').AlarmList|null} */
  alarms = null
  /** Nodes of the flow that Node-RED has not made. @type {{id: string, type: string, name?: string, problem: string}[]} */
  unstarted = []

  /** @param {{nowNs?: () => bigint}} [options]  the clock the sources stamp their samples by */
  constructor ({ nowNs = systemNowNs } = {}) {
    this.nowNs = nowNs
  }

  /**
   * The meter of a source, stage or sink, created at its first use. Under another name it goes on.
   * @param {Stage} stage
   * @param {string} name
   * @param {string} [id]
   */
  meter (stage, name, id = name) { return this.#meter(`${stage}/${id}`, name, () => new Meter(stage, id, this.nowNs)) }

  /**
   * What a node of the staging counts that belongs to no source. It is known by its node: sources may have any name.
   * @param {string} name
   * @param {string} nodeId
   */
  ownMeter (name, nodeId) { return this.#meter(`own/${nodeId}`, name, () => new Meter('stage', nodeId, this.nowNs, { isOwn: true })) }

  /** @param {string} key @param {string} name @param {() => Meter} make */
  #meter (key, name, make) {
    let meter = this.#meters.get(key)
    if (!meter) {
      meter = make()
      this.#meters.set(key, meter)
      for (const each of this.#followers) each.follow(meter, meter.totals)
    }
    meter.name = name
    return meter
  }

  /** Forgets a meter, totals included. @param {Stage} stage @param {string} id */
  drop (stage, id) {
    const key = `${stage}/${id}`
    const meter = this.#meters.get(key)
    if (!meter) return
    this.#meters.delete(key)
    for (const each of this.#followers) each.unfollow(meter)
  }

  /** @returns {Meter[]} sources first, sinks last, by name */
  get meters () {
    const order = ['source', 'stage', 'sink']
    return [...this.#meters.values()].sort((a, b) => order.indexOf(a.stage) - order.indexOf(b.stage) || a.name.localeCompare(b.name))
  }

  /** In the order in which they were created, so that of very many the first ones stay the first. @param {Stage} stage */
  metersOf (stage) {
    return [...this.#meters.values()].filter(meter => meter.stage === stage)
  }

  /**
   * Calls `read` for every report. The name says what it is of and which one, as `sink plant`. What waits in bytes has one key `bytes` or
   * `…Bytes` (a limit has `max…`): the live page plots it. What `connected` says to be false keeps the gateway from being ready. Where two
   * nodes have one name, the older one has its id behind it.
   * @param {string} name
   * @param {() => Gauge} read
   * @param {string} [nodeId]  of the node in the flow
   * @returns {() => void} removes the gauge
   */
  gauge (name, read, nodeId) {
    const key = `${name}\n${nodeId}`
    const gauge = { name, read, nodeId }
    this.#gauges.set(key, gauge)
    this.#named = null
    return () => {
      if (this.#gauges.get(key) !== gauge) return
      this.#gauges.delete(key)
      this.#named = null
    }
  }

  /** A gauge that fails reports its error, the others their values. @returns {Record<string, Gauge>} */
  readGauges () {
    return Object.fromEntries(Array.from(this.#shown, ([name, { read }]) => {
      try {
        return [name, read()]
      } catch (error) {
        return [name, { error: describe(error) }]
      }
    }))
  }

  /** The node that a gauge is of, where that is known. @param {string} name */
  nodeOf (name) { return this.#shown.get(name)?.nodeId }

  /** In the order in which they were created. */
  get #shown () {
    if (this.#named) return this.#named
    const all = [...this.#gauges.values()]
    const newest = new Map(all.map(gauge => [gauge.name, gauge]))
    return this.#named = new Map(all.map(gauge => {
      return [newest.get(gauge.name) === gauge ? gauge.name : `${gauge.name} (${gauge.nodeId})`, gauge]
    }))
  }

  /**
   * Calls `read` for every report: the balances of the sinks behind a stage in, by source.
   * @param {() => Line[]} read
   * @returns {() => void} removes them
   */
  balances (read) {
    this.#balances.add(read)
    return () => { this.#balances.delete(read) }
  }

  /**
   * Likewise, what a spool knows of the sinks that it waits for.
   * @param {string} nodeId
   * @param {() => Line[]} own  of those of this gateway
   * @param {() => Line[]} [remote]  of those of others, by their keys
   * @returns {() => void} removes it
   */
  spooled (nodeId, own, remote = () => []) {
    const spooled = { own, remote }
    this.#spooled.set(nodeId, spooled)
    return () => { if (this.#spooled.get(nodeId) === spooled) this.#spooled.delete(nodeId) }
  }

  /** @returns {Line[]} */
  readBalances () {
    return joined([...this.#balances].flatMap(read => read()), [...this.#spooled.values()].flatMap(({ own }) => own()))
  }

  /** What one spool knows of sinks of this gateway, and of others. @param {string} nodeId */
  readSpooled (nodeId) {
    const { own, remote } = this.#spooled.get(nodeId) ?? {}
    return { own: own?.() ?? [], remote: remote?.() ?? [] }
  }

  /** @returns {Follower[]} */
  get #followers () { return [...this.readers, ...this.followers] }

  /** A reader with its own interval. Close it when done: every reader costs each batch a little. */
  reader () {
    const reader = new Reader(this)
    this.readers.add(reader)
    return reader
  }
}

/** The stats of this process. */
export const stats = new Stats()
