import { failedNodes } from '../../stats/failed-nodes.js'
import { ledger } from '../../stats/ledger.js'
import { ProcessReader } from '../../stats/process.js'
import { sinkState, stagesOf, stageState } from './places.js'
import { Pulse } from './pulse.js'
import { lastValue } from './rows.js'
import { lastBatches, nodeIdOf, sentRows, sourcesOf } from './sources.js'

/**
 * What the live page is told once a second: counts since the start, of which it makes rates, and states. The lists of the layout say whose
 * they are, by their order; it is told when it changes, and so are alarms.
 *
 * @typedef {import('./sources.js').Source} Source
 * @typedef {import('../../stats/alarm.js').Alarm} Alarm
 * @typedef {Alarm & {editorId?: string}} LinkedAlarm  by which the editor knows the node that it is about
 * @typedef {import('../stream.js').Feed} Feed
 * @typedef {import('../../stats/ledger.js').SinkBalance} SinkBalance
 * @typedef {Omit<SinkBalance, 'sources'> & {isStaged: boolean}} Balance
 *
 * @typedef {object} Layout
 * @property {number} number
 * @property {{name: string, gateway: string, nodeId: string|null}[]} sources  `gateway`: '' for this one
 * @property {{id: string, name: string}[]} sinks
 * @property {import('./places.js').Stage[]} stages
 *
 * @typedef {object} SourceColumns  one value for each source
 * @property {(number|null)[]} sent  rows
 * @property {(number|null)[]} staged  rows
 * @property {(number|null)[]} p99  ms, since the last look
 * @property {(number|null)[]} ageMs  of the last row
 * @property {([string, string|number|boolean|null, string]|null)[]} last  name of a field, value, unit
 * @property {string} fills  the first letter of what its node shows: g, y, r, b; s where it is stopped, - where it has no node here
 *
 * @typedef {object} Tick
 * @property {number} time  since 1970
 * @property {number} layoutNumber
 * @property {Layout} [layout]
 * @property {LinkedAlarm[]} [alarms]  that are raised, problems first
 * @property {Alarm[]} [recent]  that are over, newest first
 * @property {SourceColumns} sources
 * @property {{timeMs: number, rows: number[][]}} [stored]  by sink, then by source
 * @property {import('./places.js').SinkState[]} sinks
 * @property {import('./places.js').StageState[]} stages
 * @property {Balance[]} [balances]
 * @property {{cpuPercent: number, rssBytes: number, eventLoopDelayMs: number, uptimeSeconds: number}} process
 * @property {import('../../stats/host/host.js').HostReport|null} host
 * @property {boolean} isRunning  the flows
 * @property {string} failed  a node that does nothing: its name; '' for none
 */

/** What every source has in every sink is told each second while it is so little, and else each five. */
const FEW_STORED = 400
const STORED_TICKS = 5
/** Balances are read from the records of databases. */
const BALANCE_TICKS = 10
const RECENT_ALARMS = 20

/** @implements {Feed} */
export class Overview {
  #stats
  #gateway
  #isRunning
  #editorId
  #process = new ProcessReader()
  #readAtMs = performance.now()
  #ticks = 0
  /** @type {Source[]} */
  #sources = []
  /** @type {import('../../stats/ledger.js').Line[]} */
  #lines = []
  #signature = ''
  #stagesSignature = ''
  #layoutNumber = 0
  #alarmsText = ''
  /** Of the last look, for newcomers. @type {Tick|null} */
  #whole = null

  /**
   * @param {import('../../stats/stats.js').Stats} stats
   * @param {{gateway: string, isRunning: () => boolean, editorId: (nodeId: string) => string}} about
   */
  constructor (stats, { gateway, isRunning, editorId }) {
    this.#stats = stats
    this.#gateway = gateway
    this.#isRunning = isRunning
    this.#editorId = editorId
    this.pulse = new Pulse(stats)
  }

  close () {
    this.pulse.close()
    this.#process.close()
  }

  /** All parts. */
  first () {
    if (!this.#whole) this.next()
    return JSON.stringify(this.#whole)
  }

  /** What is new. */
  next () {
    const stats = this.#stats
    if (this.#ticks % BALANCE_TICKS === 0) this.#lines = stats.readBalances()
    const gauges = stats.readGauges()
    const times = this.pulse.take()
    const meters = stats.metersOf('sink')
    const stages = stagesOf(stats, gauges)
    const statusOf = (/** @type {string|undefined} */ id) => stats.statuses.get(id ?? '') ?? {}
    const changed = this.#layout(meters, stages)
    const time = Number(stats.nowNs() / 1_000_000n)
    /** @type {Tick} */
    const tick = {
      time,
      layoutNumber: this.#layoutNumber,
      ...changed,
      ...this.#alarms(),
      sources: this.#columns(times),
      ...(changed.layout || this.#isStoredDue(meters.length)) && { stored: { timeMs: time, rows: this.#stored(meters) } },
      sinks: meters.map(meter => sinkState(meter, gauges[`sink ${meter.name}`], times.get(meter), statusOf(meter.id))),
      stages: stages.map(({ gauge, nodeId }) => stageState(gauge, statusOf(nodeId))),
      ...this.#ticks % BALANCE_TICKS === 0 && { balances: this.#balances() },
      process: this.#usage(),
      host: stats.host?.report ?? null,
      isRunning: this.#isRunning(),
      failed: failedNodes(stats, gauges)[0]?.name ?? ''
    }
    this.#ticks++
    this.#whole = { ...this.#whole, ...tick }
    return JSON.stringify(tick)
  }

  /** @param {import('../../stats/meter.js').Meter[]} sinks @param {ReturnType<typeof stagesOf>} stages @returns {{layout?: Layout}} */
  #layout (sinks, stages) {
    const stats = this.#stats
    const sending = stats.metersOf('source')
    const known = [...sending, ...sinks].map(({ rowsBySource, running }) => `${rowsBySource.size} ${[...running]}`)
    const signature = [this.pulse.changes, this.#lines.length, ...known, ...sinks.map(({ name }) => name)].join('\n')
    const stagesSignature = stages.map(({ kind, name }) => `${kind} ${name}`).join('\n')
    if (signature === this.#signature && stagesSignature === this.#stagesSignature) return {}
    this.#signature = signature
    this.#stagesSignature = stagesSignature
    this.#layoutNumber++
    this.#sources = sourcesOf(stats, this.#lines, this.#gateway)
    return {
      layout: {
        number: this.#layoutNumber,
        sources: this.#sources.map(source => ({ name: source.name, gateway: source.gateway, nodeId: nodeIdOf(source) ?? null })),
        sinks: sinks.map(({ id, name }) => ({ id, name })),
        stages: stages.map(({ kind, name, nodeId }) => ({ kind, name, nodeId }))
      }
    }
  }

  #alarms () {
    const { active = [], recent = [] } = this.#stats.alarms ?? {}
    const alarms = { alarms: active.map(alarm => this.#linked(alarm)), recent: recent.slice(0, RECENT_ALARMS) }
    const text = JSON.stringify(alarms)
    if (text === this.#alarmsText) return {}
    this.#alarmsText = text
    return structuredClone(alarms)
  }

  /** @param {Alarm} alarm @returns {LinkedAlarm} */
  #linked (alarm) {
    const { nodeId } = alarm.subject
    return nodeId === undefined ? alarm : { ...alarm, editorId: this.#editorId(nodeId) }
  }

  /** @param {ReturnType<Pulse['take']>} times @returns {SourceColumns} */
  #columns (times) {
    const nowNs = this.#stats.nowNs()
    const all = this.#sources
    return {
      sent: all.map(sentRows),
      staged: all.map(({ staged }) => staged && staged.rows),
      p99: all.map(({ sent, staged }) => times.get(staged ?? sent[0])?.age?.p99 ?? null),
      ageMs: all.map(({ sent, staged }) => {
        const lastAtNs = (staged ?? sent[0])?.lastAtNs
        return lastAtNs ? Math.max(0, Number((nowNs - lastAtNs) / 1_000_000n)) : null
      }),
      last: all.map(source => {
        const batch = lastBatches(source, this.pulse).at(-1)
        return batch ? lastValue(batch) : null
      }),
      fills: all.map(source => this.#fill(source)).join('')
    }
  }

  /** @param {Source} source */
  #fill (source) {
    const id = nodeIdOf(source)
    if (id !== undefined) return this.#stats.statuses.get(id)?.fill?.[0] ?? '-'
    return source.sent.length > 0 ? 's' : '-'
  }

  /** @param {number} sinks */
  #isStoredDue (sinks) { return sinks * this.#sources.length <= FEW_STORED || this.#ticks % STORED_TICKS === 0 }

  /** Names that several gateways have are told apart by the balances. @param {import('../../stats/meter.js').Meter[]} sinks */
  #stored (sinks) {
    const counts = Map.groupBy(this.#sources, ({ name }) => name)
    const isShared = (/** @type {string} */ name) => (counts.get(name)?.length ?? 0) > 1
    const lines = new Map(this.#lines.map(({ id, gateway, source, stored }) => [`${id} ${gateway} ${source}`, stored]))
    return sinks.map(({ id, rowsBySource }) => this.#sources.map(({ name, gateway }) => {
      return isShared(name) ? lines.get(`${id} ${gateway || this.#gateway} ${name}`) ?? 0 : rowsBySource.get(name) ?? 0
    }))
  }

  #balances () {
    return ledger(this.#stats, this.#lines).map(({ sources, ...balance }) => ({ ...balance, isStaged: sources.length > 0 }))
  }

  #usage () {
    const nowMs = performance.now()
    const { cpuPercent, rssBytes, eventLoopDelayMs, uptimeSeconds } = this.#process.read(nowMs - this.#readAtMs, 0)
    this.#readAtMs = nowMs
    return { cpuPercent, rssBytes, eventLoopDelayMs, uptimeSeconds }
  }
}
