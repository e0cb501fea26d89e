import { readdirSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { version } from '../base/version.js'
import { sumOf } from '../stats/balance.js'
import { ledger } from '../stats/ledger.js'
import { COUNTERS } from '../stats/meter.js'
import { BOUNDS_MICROSECONDS } from './kinds.js'

/**
 * What the metrics are about, by the kinds of `kinds.js`.
 *
 * @typedef {import('../stats/meter.js').Meter} Meter
 * @typedef {import('../stats/reader.js').Gauge} Gauge
 * @typedef {{labels: Record<string, string>, of: any}} Subject  no two of a kind have the same labels
 */

/** Listed by name; more would cost those who keep them, over months, more than they tell. The rest are one. */
const MAX_SOURCES = 200
const REST = '(others)'

const STATES = /** @type {const} */ ({
  before: 'beforeItBegan',
  stored: 'stored',
  dead_letter: 'deadLetters',
  settled: 'settled',
  parked: 'parked',
  lost: 'lost',
  in_flight: 'inFlight'
})

const ALARMS = {
  clashes: 'clashes',
  set_back: 'setBack',
  strangers: 'strangers',
  impossible: 'impossible',
  too_big: 'tooBig',
  doubts: 'doubts'
}

/**
 * @param {import('../stats/stats.js').Stats} stats
 * @param {{gatewayId: string, isReady: boolean}} about
 * @returns {Record<keyof typeof import('./kinds.js').KINDS, Subject[]>}
 */
export function subjectsOf (stats, { gatewayId, isReady }) {
  const gauges = Object.entries(stats.readGauges())
  const sources = listed(stats.metersOf('source'))
  const staged = listed(stats.metersOf('stage'))
  const sinks = stats.metersOf('sink')
  const spools = named(gauges, 'spool', 'stage')
  const { report: host } = stats.host ?? {}
  return {
    build: [{ labels: { version, node: process.versions.node, gateway: gatewayId }, of: null }],
    gateway: [{ labels: {}, of: { isReady, unlisted: sources.unlisted + staged.unlisted } }],
    ownProcess: [{ labels: {}, of: ownProcess() }],
    host: host ? [{ labels: {}, of: host }] : [],
    card: host?.cards.map(card => ({ labels: { card: card.name }, of: card })) ?? [],
    source: sources.subjects,
    stage: staged.subjects,
    sink: sinks.map(meter => ({ labels: { sink: meter.name }, of: meter })),
    write: sinks.flatMap(({ name, writes }) => writes.distributions(BOUNDS_MICROSECONDS).map(({ outcome, distribution }) => {
      return { labels: { sink: name, outcome }, of: distribution }
    })),
    balance: balances(stats, sinks),
    sinkGauge: named(gauges, 'sink', 'sink'),
    spool: spools,
    alarm: spools.flatMap(({ labels, of }) => {
      return Object.entries(ALARMS).map(([kind, key]) => ({ labels: { ...labels, kind }, of: { count: of[key] } }))
    }),
    stageIn: named(gauges, 'stage in', 'stage'),
    sourceGauge: named(gauges, 'source', 'source'),
    failed: named(gauges, 'failed', 'node'),
    raisedAlarm: raisedAlarms(stats.alarms?.active ?? []),
    alarmCount: Array.from(stats.alarms?.raised ?? [], ([kind, times]) => ({ labels: { kind }, of: { times } }))
  }
}

/** What has one name, as two stages may, or a source that is called like a stage, is one. @param {Meter[]} meters */
function listed (meters) {
  const byName = [...Map.groupBy(meters, ({ name }) => name)]
  const isListed = (/** @type {[string, Meter[]]} */ [name], /** @type {number} */ i) => i < MAX_SOURCES && name !== REST
  const rest = byName.filter((its, i) => !isListed(its, i)).flatMap(([, its]) => its)
  const subjects = byName.filter(isListed).map(([source, its]) => ({ labels: { source }, of: its.length === 1 ? its[0] : totalsOf(its) }))
  if (rest.length === 0) return { subjects, unlisted: 0 }
  return { subjects: [...subjects, { labels: { source: REST }, of: totalsOf(rest) }], unlisted: rest.length }
}

/** @param {Meter[]} meters */
function totalsOf (meters) {
  return Object.fromEntries(COUNTERS.map(counter => [counter, meters.reduce((sum, meter) => sum + meter[counter], 0)]))
}

/**
 * Those of one kind.
 * @param {[string, Gauge][]} gauges
 * @param {string} kind  with which their names begin
 * @param {string} label  for the rest of the name
 * @returns {Subject[]}
 */
function named (gauges, kind, label) {
  return gauges
    .filter(([name]) => name.startsWith(`${kind} `))
    .map(([name, gauge]) => ({ labels: { [label]: name.slice(kind.length + 1) }, of: gauge }))
}

/** Two nodes of one name have two alarms, and one label. @param {import('../stats/alarm.js').Alarm[]} alarms @returns {Subject[]} */
function raisedAlarms (alarms) {
  const labelled = alarms.map(({ kind, level, subject: { type, name } }) => ({ kind, subject: `${type} ${name}`, level }))
  const distinct = new Map(labelled.map(labels => [`${labels.kind} ${labels.subject}`, labels]))
  return Array.from(distinct.values(), labels => ({ labels, of: null }))
}

/**
 * Two sinks behind a stage in may have one label, where a group has them: they are one.
 * @param {import('../stats/stats.js').Stats} stats
 * @param {Meter[]} sinks
 * @returns {Subject[]}
 */
function balances (stats, sinks) {
  const names = new Map(sinks.map(({ id, name }) => [id, name]))
  const byName = Map.groupBy(ledger(stats), ({ id, sink }) => names.get(id) ?? sink)
  return [...byName].flatMap(([sink, its]) => {
    const sum = sumOf(its)
    return Object.entries(STATES).map(([state, term]) => ({ labels: { sink, state }, of: { rows: sum[term] } }))
  })
}

function ownProcess () {
  return {
    cpu: process.cpuUsage(),
    memory: process.memoryUsage(),
    startedMs: performance.timeOrigin,
    busyMs: performance.eventLoopUtilization().active,
    openFiles: openFiles()
  }
}

/** Null where the system does not say. */
function openFiles () {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}
