import { decoded } from '../base/decoded.js'
import { sumOf } from '../stats/balance.js'
import { failedNodes } from '../stats/failed-nodes.js'
import { ledger } from '../stats/ledger.js'
import { Growth } from './growth.js'
import { Silence } from './silence.js'
import { Stalls } from './stalls.js'

/**
 * What the kinds of alarm are judged from: what the stats have, in their terms, with what only time tells.
 *
 * @typedef {import('../stats/reader.js').Gauge} Gauge
 * @typedef {import('../stats/meter.js').Meter} Meter
 * @typedef {{name: string, nodeId?: string, gauge: Gauge}} Place
 * @typedef {Place & {meter?: Meter}} Sink
 * @typedef {Place & {fullInSeconds: number|null, required: string[], takers: Sink[], stalledMs: number, served: Served[]}} Spool
 *   `fullInSeconds`: at the rate at which it grows; null where it does not; `required`: the sinks it waits for; `takers`: those of them
 *   that run here; `stalledMs`: for how long rows have come and none were stored, as far as this gateway can know; `served`: each sink that
 *   it waits for, whether it runs or not
 * @typedef {object} Served
 * @property {string} name
 * @property {string} [nodeId]  none of another gateway's
 * @property {Sink} [sink]  that runs here
 * @property {number} rows  that it lacks of the spool
 * @property {number} stalledMs  for how long it has stored none of them
 * @property {boolean} hasGrown  rows have come meanwhile
 * @property {boolean} hasStored  some, since this gateway looks
 *
 * @typedef {object} Snapshot
 * @property {Sink[]} sinks
 * @property {(sink: Sink) => number} rowsFor  that wait for it, in spools and in memory
 * @property {Spool[]} spools
 * @property {number|'full'|'never'} spoolFullInSeconds  of that which is full first
 * @property {Place[]} stageIns
 * @property {Place[]} kafkaIns
 * @property {{name: string, nodeId: string, meter: Meter}[]} ownMeters  of stages: what belongs to no source
 * @property {Place[]} devices  that are asked, as over Modbus
 * @property {{broker: string, problem: string, nodes: string[]}[]} unconnected  brokers
 * @property {Set<string>} connected  brokers
 * @property {{name: string, nodeId?: string, problem: string}[]} failed  nodes
 * @property {({name: string, nodeId?: string} & import('./silence.js').Silent)[]} sources
 * @property {import('../stats/host/alarms.js').Alarm[]} host
 * @property {boolean} isMachineKnown  and the flows run, whose nodes are to be told
 * @property {{isWrong: boolean, state: string, jumps: number, jumpMs: number}} clock
 * @property {{times: number, longestMs: number}} blocked  how often something has kept all else waiting, and how long at the last look
 * @property {string} historyProblem  why the gateway's history is not written to disk; empty where it is
 * @property {import('./limits.js').Limits} limits
 *
 * @typedef {object} Surroundings
 * @property {() => number} now  monotonic milliseconds
 * @property {() => number} wallNow  milliseconds since 1970
 * @property {Pick<import('../clock/wall-clock.js').WallClock, 'state'|'isWrong'>} clock
 * @property {() => number} blockedMs  the longest time since it was asked last in which nothing else had its turn
 */

/** What waits is read from the databases' records and the spools: that costs, and is asked for only while a sink is in trouble. */
const LEDGER_MS = 30_000
const JUMP_MS = 2000
const BLOCKED_MS = 1000
/** While the flows start, much is loaded at once. */
const STARTING_MS = 60_000
/** At which a spool takes longer to fill, it does not grow. */
const NEVER_SECONDS = 30 * 86_400

/** What is read again and again, and remembered from one time to the next. */
export class Snapshots {
  #stats
  #limits
  #surroundings
  #startedMs
  #silence = new Silence()
  #growth = new Growth()
  #stalls = new Stalls()
  /** @type {{atMs: number, rows: Map<string, number>}} */
  #waiting = { atMs: -Infinity, rows: new Map() }
  #jumps = 0
  #jumpMs = 0
  /** Of the wall clock to the other, while it was set. @type {number|null} */
  #offsetMs = null
  #blocked = { times: 0, longestMs: 0 }

  /** @param {import('../stats/stats.js').Stats} stats @param {import('./limits.js').Limits} limits @param {Surroundings} surroundings */
  constructor (stats, limits, surroundings) {
    this.#stats = stats
    this.#limits = limits
    this.#surroundings = surroundings
    this.#startedMs = surroundings.now()
  }

  /** @returns {Snapshot} */
  take () {
    const stats = this.#stats
    const nowMs = this.#surroundings.now()
    const read = stats.readGauges()
    const gauges = Object.entries(read)
    const named = (/** @type {string} */ kind) => gauges.filter(([name]) => name.startsWith(`${kind} `)).map(([name, gauge]) => {
      return { name: name.slice(kind.length + 1), nodeId: stats.nodeOf(name), gauge }
    })
    const meters = new Map(stats.metersOf('sink').map(meter => [meter.id, meter]))
    const sinks = named('sink').map(sink => ({ ...sink, meter: meters.get(sink.nodeId ?? sink.name) }))
    const spools = this.#spools(named('spool'), sinks, nowMs)
    const stageIns = named('stage in')
    const kafkaIns = named('kafka in')
    const linked = [...spools, ...stageIns, ...kafkaIns, ...named('sparkplug')]
    const isHeldUp = spools.some(({ gauge }) => gauge.blocked)
    return {
      sinks,
      rowsFor: sink => this.#rowsFor(sink, nowMs),
      spools,
      spoolFullInSeconds: isHeldUp ? 'full' : soonest(spools),
      stageIns,
      kafkaIns,
      ownMeters: stats.metersOf('stage').filter(({ isOwn }) => isOwn).map(meter => {
        const { name } = [...stageIns, ...spools, ...kafkaIns].find(({ nodeId }) => nodeId === meter.id) ?? meter
        return { name, nodeId: meter.id, meter }
      }),
      devices: named('source').filter(({ gauge }) => 'lastGoodSecondsAgo' in gauge),
      unconnected: unconnectedOf(linked),
      connected: new Set(linked.filter(({ gauge }) => gauge.connected === true).map(brokerOf)),
      failed: failedNodes(stats, read),
      sources: this.#sources(nowMs, { isHeldUp, isStaged: spools.length > 0 }),
      host: stats.host?.report?.alarms ?? [],
      isMachineKnown: Boolean(stats.host?.report) && sinks.length + linked.length + stats.metersOf('source').length > 0,
      clock: this.#clock(nowMs),
      blocked: this.#block(nowMs),
      historyProblem: String(read.history?.problem ?? ''),
      limits: this.#limits
    }
  }

  /** @param {Place[]} spools @param {Sink[]} sinks @param {number} nowMs @returns {Spool[]} */
  #spools (spools, sinks, nowMs) {
    const growing = this.#growth.look(spools.map(({ name, gauge }) => [name, Number(gauge.onDiskBytes)]), nowMs)
    return spools.map(spool => {
      const { onDiskBytes, maxBytes, unstoredBytes, accepted, confirmed } = spool.gauge
      const seconds = (Number(maxBytes) - Number(onDiskBytes)) / growing(spool.name) / 1000
      const required = requiredOf(spool)
      const takers = sinks.filter(({ name, nodeId }) => required.some(sink => sink === nodeId || sink === name))
      const waits = unstoredBytes === 0 ? 0 : Number(accepted ?? 0)
      const id = spool.nodeId ?? spool.name
      const { ms, hasGrown } = this.#stalls.look(id, { accepted: waits, stored: [confirmed, ...takers.map(doneBy)].join(' ') }, nowMs)
      const stalledMs = hasGrown ? ms : 0
      const served = this.#served(id, sinks, nowMs)
      return { ...spool, fullInSeconds: seconds >= 0 && seconds < NEVER_SECONDS ? seconds : null, required, takers, stalledMs, served }
    })
  }

  /** @param {string} spool @param {Sink[]} sinks @param {number} nowMs @returns {Served[]} */
  #served (spool, sinks, nowMs) {
    const { own, remote } = this.#stats.readSpooled(spool)
    const isRemote = new Set(remote.map(({ id }) => id))
    return Array.from(Map.groupBy([...own, ...remote], ({ id }) => id), ([id, lines]) => {
      const { produced, stored, deadLetters, settled, beforeItBegan, inFlight: rows } = sumOf(lines)
      const sink = sinks.find(({ nodeId }) => nodeId === id)
      const done = [stored + deadLetters + settled + beforeItBegan, sink ? doneBy(sink) : 0].join(' ')
      const { ms: stalledMs, ...since } = this.#stalls.look(`${spool} ${id}`, { accepted: rows === 0 ? 0 : produced, stored: done }, nowMs)
      const [{ sink: name }] = lines
      const whose = isRemote.has(id) ? { name: `${name} (${decoded(id.split('/')[0])})` } : { name, nodeId: id }
      return { ...whose, sink, rows, stalledMs, ...since }
    })
  }

  /** @param {Sink} sink @param {number} nowMs */
  #rowsFor ({ name, nodeId, gauge }, nowMs) {
    if (nowMs - this.#waiting.atMs >= LEDGER_MS) {
      const balances = ledger(this.#stats)
      this.#waiting = { atMs: nowMs, rows: new Map(balances.map(({ id, inFlight, parked }) => [id, inFlight + parked])) }
    }
    return Math.max(Number(gauge.pendingRows ?? 0), this.#waiting.rows.get(nodeId ?? name) ?? 0)
  }

  /**
   * The nodes that are sources, and what other programs send into the staging. What a full spool holds up is not silent.
   * @param {number} nowMs
   * @param {{isHeldUp: boolean, isStaged: boolean}} about
   */
  #sources (nowMs, { isHeldUp, isStaged }) {
    const { isWrong, state } = this.#surroundings.clock
    const isFree = !isHeldUp && !(isWrong && state === 'waiting')
    const nodes = this.#stats.metersOf('source')
    const own = new Set(nodes.flatMap(({ rowsBySource }) => [...rowsBySource.keys()]))
    const others = this.#stats.metersOf('stage').filter(({ id, rowsBySource }) => rowsBySource.size > 0 && !own.has(id))
    return [
      ...nodes.map(meter => {
        const isStarted = meter.running.size > 0
        const [nodeId] = meter.running
        return { name: meter.name, nodeId, ...this.#silence.look(meter, nowMs, { isExpected: isFree && isStarted, isStarted }) }
      }),
      ...others.map(meter => {
        return { name: meter.name, ...this.#silence.look(meter, nowMs, { isExpected: isFree && isStaged, isStarted: false }) }
      })
    ]
  }

  /** @param {number} nowMs */
  #clock (nowMs) {
    const { clock: { isWrong, state }, wallNow } = this.#surroundings
    const offsetMs = state === 'set' ? wallNow() - nowMs : null
    const jumpMs = offsetMs === null || this.#offsetMs === null ? 0 : offsetMs - this.#offsetMs
    this.#offsetMs = offsetMs
    if (Math.abs(jumpMs) > JUMP_MS) {
      this.#jumps++
      this.#jumpMs = jumpMs
    }
    return { isWrong, state, jumps: this.#jumps, jumpMs: this.#jumpMs }
  }

  /** @param {number} nowMs */
  #block (nowMs) {
    const longestMs = this.#surroundings.blockedMs()
    if (longestMs >= BLOCKED_MS && nowMs - this.#startedMs >= STARTING_MS) {
      this.#blocked = { times: this.#blocked.times + 1, longestMs }
    }
    return this.#blocked
  }
}

/** @param {Sink} sink */
function doneBy ({ meter }) { return meter ? meter.rows + meter.deadLetters : 0 }

/** The sinks that a spool waits for, without whose they are. @param {Place} spool */
function requiredOf ({ gauge: { requiredSinks } }) {
  return String(requiredSinks ?? '').split(', ').filter(Boolean).map(key => decoded(key.slice(key.lastIndexOf('/') + 1)))
}

/** @param {{fullInSeconds: number|null}[]} spools @returns {number|'never'} */
function soonest (spools) {
  const known = spools.flatMap(({ fullInSeconds }) => fullInSeconds ?? [])
  return known.length > 0 ? Math.min(...known) : 'never'
}

/** @param {Place} place */
function brokerOf ({ name, gauge }) { return String(gauge.broker ?? name) }

/** One broker is missed by many nodes. @param {Place[]} places */
function unconnectedOf (places) {
  const byBroker = Map.groupBy(places.filter(({ gauge }) => gauge.connected === false), brokerOf)
  return Array.from(byBroker, ([broker, its]) => {
    const problem = String(its.find(({ gauge }) => gauge.problem)?.gauge.problem ?? '')
    return { broker, problem, nodes: its.map(({ name }) => name) }
  })
}
