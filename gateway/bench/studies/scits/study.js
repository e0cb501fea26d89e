import { describe, SluiceError } from '../../../base/errors.js'
import { afterWriting, DATABASES, missingDatabase } from './databases.js'
import { ingested } from './ingest.js'
import { openDatabase } from './opened.js'
import { asked, QUERIES, runOnce } from './queries.js'
import { summary } from '../statistics.js'
import { files } from './csv.js'
import { sweepOf } from './config.js'
import { report } from './report.js'

/**
 * SciTS: how long batches take, how many rows many clients store, how that goes on as a table grows, and how long five queries take.
 *
 * @typedef {import('../study.js').Cell} Cell
 * @typedef {import('../study.js').Measured} Measured
 */

const DAY_NS = 86_400_000_000_000
const SIZES = [1000, 5000, 10_000, 20_000, 50_000, 100_000]
/** Where all databases of the paper are alike: of concurrency and scaling. */
const BATCH_ROWS = 20_000
const START = '2022-01-01T00:00:00Z'

const FULL = {
  batches: 500, clients: [1, 2, 4, 8, 12, 18, 24, 36, 48], seconds: 60, rows: 100_000_000, sensors: 10_000, runs: 20, windowSeconds: 60,
  limitSeconds: 6 * 3600
}
const QUICK = {
  batches: 30, clients: [1, 4, 16, 48], seconds: 5, rows: 10_000_000, sensors: 1000, runs: 3, windowSeconds: 2, limitSeconds: 60
}
/** What a configuration of SciTS may say of the queries. */
const CHOICES = [
  'durationMinutes', 'aggregationIntervalHour', 'sensorsFilter', 'sensorId', 'firstSensorId', 'secondSensorId', 'minValue', 'maxValue'
]
/** What a cell takes besides its writing: to empty the table, and to start each client. */
const BESIDES_SECONDS = 1
const CLIENT_SECONDS = 0.2
/** About what a database takes, and what a query takes with a restart of its server. */
const ROWS_A_SECOND = 250_000
const RUN_SECONDS = 2

/** @type {import('../study.js').Study} */
export const scits = {
  id: 'scits',
  title: 'SciTS: time-series databases in scientific experiments and industrial IoT',
  paper: 'J. Mostafa, S. Wehbi, S. Chilingaryan, A. Kopmann: SciTS: A Benchmark for Time-Series Databases in Scientific Experiments and ' +
    'Industrial Internet of Things. SSDBM 2022. https://doi.org/10.1145/3538712.3538723',

  plan ({ isFull, sweep }) {
    const own = isFull ? FULL : QUICK
    const chosen = chosenFrom(own, isFull, sweep)
    const cells = chosen.databases.flatMap((/** @type {string} */ database) => cellsOf(database, chosen))
    return { cells, cut: cutOf(isFull, chosen) }
  },

  missing: ({ parameters }, servers) => missingDatabase(String(parameters.database), servers).catch(describe),

  async measure ({ parameters }, context) {
    const opened = await context.shared(folder => openDatabase(String(parameters.database), folder, context.servers))
    if (parameters.workload === 'query') return queried(parameters, opened, context)
    if (parameters.workload === 'scaling') return scaled(parameters, opened, context)
    return ingested(/** @type {any} */ (parameters), opened, context.signal)
  },

  report,
  files,
  sweepOf
}

/** @param {typeof FULL} own @param {boolean} isFull @param {Record<string, any>} sweep */
function chosenFrom (own, isFull, sweep) {
  const { batchSizes = SIZES, rows = own.rows, writers = own.clients, seconds, daySpan = 15, startTime = START, queryType } = sweep
  const all = Object.keys(DATABASES)
  const wanted = sweep.databases ?? all.filter(each => isFull || !DATABASES[each].isOwn)
  const databases = all.filter(each => wanted.includes(each))
  if (databases.length === 0) {
    const fix = `Choose from ${all.join(', ')}.`
    throw new SluiceError('SLUICE_BENCH_UNKNOWN', `The study has none of the databases ${wanted.join(', ')}.`, { fix })
  }
  const stepNs = Math.floor(daySpan * DAY_NS / rows)
  return {
    databases,
    unused: { databases: wanted.filter((/** @type {string} */ each) => !all.includes(each)), settings: sweep.unused ?? [] },
    sizes: batchSizes,
    batchRows: batchSizes.length === 1 ? batchSizes[0] : BATCH_ROWS,
    batches: sweep.repetitions ?? own.batches,
    clients: writers,
    seconds: seconds ?? own.seconds,
    limitSeconds: seconds ?? own.limitSeconds,
    rows,
    runs: sweep.repetitions ?? own.runs,
    windowSeconds: Math.min(own.windowSeconds, seconds ?? Infinity),
    queries: queryType ? [queryType].flat() : Object.keys(QUERIES),
    cache: sweep.cache ?? 'cold',
    choices: choicesOf(sweep),
    table: { sensors: sweep.sensors?.[0] ?? own.sensors, startMs: Date.parse(startTime), daySpan, stepNs }
  }
}

/** @param {Record<string, any>} sweep @returns {Record<string, string|number>} */
function choicesOf (sweep) {
  return Object.fromEntries(CHOICES.flatMap(name => sweep[name] === undefined ? [] : [[name, sweep[name]]]))
}

/** @param {string} database @param {ReturnType<typeof chosenFrom>} chosen @returns {Cell[]} */
function cellsOf (database, chosen) {
  const { sizes, batchRows, batches, clients, seconds, limitSeconds, rows, runs, windowSeconds, queries, cache, choices, table } = chosen
  const { name } = DATABASES[database]
  const many = Math.max(...clients)
  const due = Math.ceil(rows / batchRows)
  const scaling = { database, batchRows, clients: many, batches: due, seconds: limitSeconds, windowSeconds, ...table }
  return [
    ...sizes.map((/** @type {number} */ size) => ({
      id: `${database}-batching-${size}`,
      label: `${name}, batches of ${size}`,
      parameters: { workload: 'batching', database, batchRows: size, clients: 1, batches, seconds: limitSeconds, ...table },
      seconds: BESIDES_SECONDS + Math.min(limitSeconds, size * batches / ROWS_A_SECOND)
    })),
    ...clients.map((/** @type {number} */ count) => ({
      id: `${database}-concurrency-${count}`,
      label: `${name}, ${count} ${count === 1 ? 'client' : 'clients'}`,
      parameters: { workload: 'concurrency', database, batchRows, clients: count, seconds, ...table },
      seconds: BESIDES_SECONDS + seconds + count * CLIENT_SECONDS
    })),
    {
      id: `${database}-scaling`,
      label: `${name}, scaling`,
      parameters: { workload: 'scaling', ...scaling },
      seconds: BESIDES_SECONDS + many * CLIENT_SECONDS + Math.min(limitSeconds, rows / ROWS_A_SECOND)
    },
    ...queries.map((/** @type {string} */ query) => ({
      id: `${database}-${query}`,
      label: `${name}, ${query} (${QUERIES[query].title})`,
      parameters: { ...scaling, workload: 'query', query, runs, cache, ...choices },
      seconds: runs * RUN_SECONDS
    }))
  ]
}

/** @param {boolean} isFull @param {ReturnType<typeof chosenFrom>} chosen */
function cutOf (isFull, { batches, seconds, rows, runs, windowSeconds, limitSeconds, databases, unused, table: { sensors } }) {
  return [
    ...unused.databases.length > 0 ? [`Not databases of this study: ${unused.databases.join(', ')}.`] : [],
    ...unused.settings.length > 0 ? [`Settings that mean nothing here: ${unused.settings.join(', ')}.`] : [],
    ...batches < 500 ? [`${batches} batches of each size; the paper writes 500.`] : [],
    `Each number of clients writes for ${seconds} s; the paper does not say how long.`,
    `The table grows to ${rows.toLocaleString('en-US')} rows of ${sensors.toLocaleString('en-US')} sensors, or for ${limitSeconds} s; ` +
    'the paper has 2.88 · 10⁹ rows of 100,000. A database whose index fits into memory shows no decline: see --limit and ' +
    '--with-servers.',
    ...windowSeconds < 60 ? [`The rate over time is that of ${windowSeconds} s; the paper has a minute.`] : [],
    ...runs < 20 ? [`${runs} runs of each query; the paper has 20.`] : [],
    ...isFull || databases.some((/** @type {string} */ each) => DATABASES[each]?.isOwn)
      ? []
      : ['MariaDB, SQLite and DuckDB, which the paper does not have, are measured with --full or --databases.']
  ]
}

/**
 * Leaves what it has written for the queries.
 * @param {Cell['parameters']} parameters @param {import('./opened.js').Opened} opened @param {import('../study.js').CellContext} context
 */
async function scaled (parameters, opened, { signal }) {
  const { sensors, startMs, stepNs } = parameters
  const measured = await ingested(/** @type {any} */ (parameters), opened, signal)
  const { rowsThere: rows } = measured.measures
  const startNs = BigInt(startMs) * 1_000_000n
  await afterWriting(opened.address)
  opened.dataset = { rows, sensors: Number(sensors), startNs, endNs: startNs + BigInt(rows) * BigInt(stepNs) }
  return measured
}

/**
 * @param {Cell['parameters']} parameters @param {import('./opened.js').Opened} opened @param {import('../study.js').CellContext} context
 * @returns {Promise<Measured>}
 */
async function queried (parameters, opened, context) {
  const { signal, progress } = context
  const { query: id, runs, cache } = parameters
  if (!opened.dataset) { // it was stopped after the scaling
    progress('writing the rows that are queried')
    await scaled(parameters, opened, context)
  }
  const dataset = /** @type {NonNullable<typeof opened.dataset>} */ (opened.dataset)
  const all = []
  for (let repetition = 0; repetition < Number(runs); repetition++) {
    signal.throwIfAborted()
    progress(`run ${repetition + 1} of ${runs}`)
    all.push(await runOnce(asked(String(id), dataset, repetition, parameters), opened, { isCold: cache === 'cold', signal }))
  }
  const { min, mean, p95, max, deviation } = /** @type {NonNullable<ReturnType<typeof summary>>} */ (
    summary(all.map(({ microseconds }) => microseconds / 1000)))
  return {
    measures: {
      minMilliseconds: min,
      meanMilliseconds: mean,
      p95Milliseconds: p95,
      maxMilliseconds: max,
      deviationMilliseconds: deviation,
      points: all.reduce((sum, { points }) => sum + points, 0) / all.length,
      coldRuns: all.filter(({ cache: its }) => its.cache === 'cold').length,
      datasetRows: dataset.rows
    },
    samples: {
      queryMicroseconds: all.map(({ microseconds }) => microseconds),
      queryPoints: all.map(({ points }) => points),
      queryEndedMs: all.map(({ endedMs }) => endedMs),
      queryFromMs: all.map(({ from }) => Number(from / 1_000_000n))
    },
    version: opened.running.version,
    settings: opened.running.settings,
    notes: [...new Set(all.map(({ cache: its }) => `${its.cache}: ${its.cacheReason}`))]
  }
}
