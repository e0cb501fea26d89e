import { wallClock } from '../clock/system-clock.js'
import { alarm, alarmCount, failed, raisedAlarm, sinkGauge, sourceGauge, spool, stageIn } from './gauge-kinds.js'
import { card, host } from './host-kinds.js'

/**
 * Every metric there is: name, type, unit, explanation, and how it is read from what it is about. `docs/metrics.md` is made of it, and so
 * is what Prometheus and OpenTelemetry get.
 *
 * @typedef {import('../stats/meter.js').Meter} Meter
 * @typedef {import('../stats/meter.js').Totals} Totals
 * @typedef {{counts: number[], sum: number, total: number}} Distribution  in microseconds, over `BOUNDS_SECONDS`
 * @typedef {number|boolean|string|null|undefined|Distribution} Value  what is no number is left out
 * @typedef {'counter'|'gauge'|'histogram'} Type
 */
/**
 * @template Subject
 * @typedef {[name: string, type: Type, unit: string, help: string, read: ((subject: Subject) => Value)|(keyof Subject & string)]}
 *   Metric  `read`: or the property it is
 */
/**
 * @template Subject
 * @typedef {{title: string, about: string, labels: string[], metrics: Metric<Subject>[]}} Kind
 */

/** The upper bounds of the histograms' buckets. */
export const BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]
export const BOUNDS_MICROSECONDS = BOUNDS_SECONDS.map(seconds => seconds * 1e6)

/** @type {Kind<null>} */
const build = {
  title: 'Build',
  about: 'What runs here: to be joined with the others, as in `* on (instance) group_left (version) sluice_build_info`.',
  labels: ['version', 'node', 'gateway'],
  metrics: [['sluice_build_info', 'gauge', '', 'Always 1; version of Sluice, of Node.js, and the id of the gateway.', () => 1]]
}

/** @type {Kind<{isReady: boolean, unlisted: number}>} */
const gateway = {
  title: 'Gateway',
  about: '',
  labels: [],
  metrics: [
    ['sluice_ready', 'gauge', '', '1 while the flows run and all that is to be connected is, as `/sluice/health/ready` says.', 'isReady'],
    ['sluice_clock_synchronized', 'gauge', '', '1 once the clock of the machine is set, 0 while it is not; absent until that is known.',
      () => wallClock.state === 'set' || (wallClock.isWrong ? false : null)],
    ['sluice_sources_unlisted', 'gauge', 'sources', 'Sources that are counted together, as `(others)`: there are more than are listed.',
      'unlisted']
  ]
}

/** @type {Kind<{cpu: NodeJS.CpuUsage, memory: NodeJS.MemoryUsage, startedMs: number, busyMs: number, openFiles: number|null}>} */
const ownProcess = {
  title: 'Process',
  about: 'Of the process of the gateway, with all that runs in its flows.',
  labels: [],
  metrics: [
    ['process_cpu_seconds_total', 'counter', 'seconds', 'Processor time, of user and system.', ({ cpu }) => (cpu.user + cpu.system) / 1e6],
    ['process_resident_memory_bytes', 'gauge', 'bytes', 'Memory.', ({ memory }) => memory.rss],
    ['process_start_time_seconds', 'gauge', 'seconds', 'When it started, since 1970.', ({ startedMs }) => startedMs / 1000],
    ['process_open_fds', 'gauge', 'files', 'Open files and sockets; on Linux only.', 'openFiles'],
    ['nodejs_heap_size_used_bytes', 'gauge', 'bytes', 'Of the heap of JavaScript, what is used.', ({ memory }) => memory.heapUsed],
    ['nodejs_heap_size_total_bytes', 'gauge', 'bytes', 'The heap of JavaScript.', ({ memory }) => memory.heapTotal],
    ['nodejs_external_memory_bytes', 'gauge', 'bytes', 'Memory outside the heap, as of batches.', ({ memory }) => memory.external],
    ['nodejs_eventloop_busy_seconds_total', 'counter', 'seconds', 'How long the main thread was busy: near 1 a second, all have to wait.',
      ({ busyMs }) => busyMs / 1000]
  ]
}

/** @type {Metric<Totals & {lastAtNs?: bigint}>[]} */
const passed = [
  ['rows_total', 'counter', 'rows', 'Rows', 'rows'],
  ['batches_total', 'counter', 'batches', 'Batches', 'batches'],
  ['values_total', 'counter', 'values', 'Values in those rows', 'values']
]

/** @param {string} prefix @param {string} what  became of them @returns {Metric<Totals & {lastAtNs?: bigint}>[]} */
const passing = (prefix, what) => passed.map(([name, type, unit, help, read]) => {
  return [`${prefix}_${name}`, type, unit, `${help} ${what}.`, read]
})

/** @param {{lastAtNs?: bigint}} meter */
const lastAt = ({ lastAtNs }) => lastAtNs ? Number(lastAtNs / 1_000_000n) / 1000 : null

/** @type {Kind<Totals & {lastAtNs?: bigint}>} */
const source = {
  title: 'Sources',
  about: 'Of each source node, by its name: what it has sent into the flow.',
  labels: ['source'],
  metrics: [
    ...passing('sluice_source', 'sent'),
    ['sluice_source_missed_rows_total', 'counter', 'rows', 'Samples that could not be read in time.', 'missed'],
    ['sluice_source_late_rows_total', 'counter', 'rows', 'Samples that were read late.', 'late'],
    ['sluice_source_errors_total', 'counter', 'errors', 'What could not be read or decoded.', 'errors'],
    ['sluice_source_last_row_timestamp_seconds', 'gauge', 'seconds', 'When it sent a row last, since 1970; absent before the first.',
      lastAt]
  ]
}

/** @type {Kind<Totals & {lastAtNs?: bigint}>} */
const stage = {
  title: 'Staging, by source',
  about: 'Of everything that is staged, by the source that its rows carry: what a spool has accepted, so that it is not lost any more. ' +
    'What belongs to no source is under the name of its node with `(stage out)` or `(stage in)`.',
  labels: ['source'],
  metrics: [
    ...passing('sluice_staged', 'accepted into a spool'),
    ['sluice_staged_dropped_rows_total', 'counter', 'rows',
      'Rows that no spool accepted, or that a full one gave up because it is to drop the oldest.', 'dropped'],
    ['sluice_staged_lost_rows_total', 'counter', 'rows', 'Rows that a spool lost, as by a damaged disk, before all sinks had stored them.',
      'lost'],
    ['sluice_staged_errors_total', 'counter', 'errors',
      'Messages, or values in them, that are not rows; kept as dead letters where a stage in received them.', 'errors'],
    ['sluice_staged_overdue_total', 'counter', 'deliveries', 'Deliveries that a flow did not settle in time, and that were emitted again.',
      'overdue'],
    ['sluice_staged_parked_total', 'counter', 'deliveries',
      'Deliveries that were emitted several times in vain, and wait for the next deploy.', 'parked'],
    ['sluice_staged_last_row_timestamp_seconds', 'gauge', 'seconds', 'When a row was accepted last, since 1970; absent before the first.',
      lastAt]
  ]
}

/** @type {Kind<Meter>} */
const sink = {
  title: 'Sinks',
  about: 'What each sink has stored, by its name.',
  labels: ['sink'],
  metrics: [
    ...passing('sluice_sink', 'stored'),
    ['sluice_sink_bytes_total', 'counter', 'bytes', 'Bytes stored, where the database says.', 'bytes'],
    ['sluice_sink_duplicate_rows_total', 'counter', 'rows',
      'Rows that came again and were refused, as they were stored already: how “exactly once” looks at work.', 'duplicates'],
    ['sluice_sink_dead_letters_total', 'counter', 'rows', 'Rows that the database refused for good, and that were kept as dead letters.',
      'deadLetters'],
    ['sluice_sink_lost_rows_total', 'counter', 'rows', 'Rows without staging that could neither be stored nor kept.', 'lost'],
    ['sluice_sink_retries_total', 'counter', 'writes', 'Writes that were tried again.', 'retries'],
    ['sluice_sink_errors_total', 'counter', 'errors', 'Writes that the database refused for what is in them.', 'errors'],
    ['sluice_sink_untimely_rows_total', 'counter', 'rows',
      'Rows from the future, or older than an hour, when they were stored: clocks that differ, or an outage.',
      ({ latency }) => latency.clamped],
    ['sluice_sink_last_row_timestamp_seconds', 'gauge', 'seconds', 'When it stored a row last, since 1970; absent before the first.',
      lastAt],
    ['sluice_sink_latency_seconds', 'histogram', 'seconds', 'How old rows were when they were stored; of the future 0, an hour at most.',
      ({ latency }) => latency.distribution(BOUNDS_MICROSECONDS)]
  ]
}

/** @type {Kind<Distribution>} */
const write = {
  title: 'Writes',
  about: 'How long the database of a sink took for a batch, by what became of it: `stored`, `failed` (it is tried again) or `refused` ' +
    '(for good).',
  labels: ['sink', 'outcome'],
  metrics: [['sluice_sink_write_seconds', 'histogram', 'seconds', 'How long the database took for a batch.', distribution => distribution]]
}

/** @type {Kind<{rows: number}>} */
const balance = {
  title: 'Balance',
  about: 'Of each sink, what has become of the rows that are meant for it, as its database and the spools say: the same after a restart. ' +
    'The states together are what was produced: `before` the sink began, `stored`, `dead_letter`, `settled` (dropped by the flow on ' +
    'purpose), `parked` until the next deploy, `lost`, `in_flight`.',
  labels: ['sink', 'state'],
  metrics: [['sluice_sink_balance_rows', 'gauge', 'rows', 'Rows by what has become of them.', 'rows']]
}

/** In the order in which they are told. */
export const KINDS = {
  build, gateway, ownProcess, host, card, source, stage, sink, write, balance, sinkGauge, spool, alarm, stageIn, sourceGauge, failed,
  raisedAlarm, alarmCount
}
