import { DATABASES } from './databases.js'
import { configText } from './config.js'
import { QUERIES, MAX_VALUE, MIN_VALUE } from './queries.js'

/**
 * The single measurements as SciTS logs them, by the columns of its version 1.0, that of the paper, whose scripts read it; and the
 * configuration of each database. What differs: the unit is said, a failed batch has its latency, and the date is UTC.
 *
 * @typedef {import('../study.js').DoneCell} DoneCell
 */

const COLUMNS = [
  'Date', 'SucceededDataPoints', 'FailedDataPoints', 'Operation', 'TargetDatabase', 'Latency', 'ClientsNumber', 'BatchSize', 'Loop',
  'SensorsNumber', 'Client', 'Iteration', 'Duration', 'StartDate', 'Aggregation', 'LatencyUnit'
]

/** @param {import('../study.js').StudyResult} result @returns {Record<string, string>} texts by the names of their files */
export function files ({ cells }) {
  const done = cells.filter(cell => cell.state === 'done')
  const databases = [...new Set(done.map(({ parameters }) => String(parameters.database)))]
  const lines = done.flatMap(cell => cell.parameters.workload === 'query' ? reads(cell) : writes(cell))
  return {
    'scits.csv': [COLUMNS.join(','), ...lines.map(row => COLUMNS.map(column => cellText(row[column])).join(',')), ''].join('\r\n'),
    ...Object.fromEntries(databases.map(database => {
      const its = done.filter(({ parameters }) => parameters.database === database)
      return [`scits-${DATABASES[database].scits}.config`, configText(settingsOf(its))]
    }))
  }
}

/** @param {DoneCell} cell @returns {Record<string, string|number>[]} */
function writes ({ parameters, samples = {} }) {
  const { database, batchRows, clients, sensors, batches } = parameters
  const { batchClient = [], batchEndedMs = [], batchMicroseconds = [], batchIsStored = [] } = samples
  const iterations = new Map()
  return batchClient.map((client, i) => {
    const iteration = iterations.get(client) ?? 0
    iterations.set(client, iteration + 1)
    return {
      ...common(database, batchEndedMs[i], batchMicroseconds[i]),
      SucceededDataPoints: batchIsStored[i] ? batchRows : 0,
      FailedDataPoints: batchIsStored[i] ? 0 : batchRows,
      Operation: 'BatchIngestion',
      ClientsNumber: clients,
      BatchSize: batchRows,
      ...batches !== undefined && { Loop: Math.ceil(Number(batches) / Number(clients)) },
      SensorsNumber: sensors,
      Client: client,
      Iteration: iteration
    }
  })
}

/** @param {DoneCell} cell @returns {Record<string, string|number>[]} */
function reads ({ parameters, samples = {} }) {
  const { database, query, sensors, runs, durationMinutes, aggregationIntervalHour = 1 } = parameters
  const { operation, minutes, hasBuckets } = QUERIES[query]
  const { queryMicroseconds = [], queryPoints = [], queryEndedMs = [], queryFromMs = [] } = samples
  return queryMicroseconds.map((microseconds, i) => ({
    ...common(database, queryEndedMs[i], microseconds),
    SucceededDataPoints: queryPoints[i],
    FailedDataPoints: 0,
    Operation: operation,
    Loop: runs,
    SensorsNumber: sensors,
    Iteration: i,
    Duration: durationMinutes ?? minutes,
    StartDate: new Date(queryFromMs[i]).toISOString(),
    Aggregation: hasBuckets ? aggregationIntervalHour : 0
  }))
}

/** The date is in nanoseconds since 1970, as there. @param {string|number} database @param {number} endedMs @param {number} microseconds */
function common (database, endedMs, microseconds) {
  return {
    Date: `${Math.round(endedMs)}000000`,
    TargetDatabase: DATABASES[database].scits,
    Latency: microseconds / 1000,
    LatencyUnit: 'ms'
  }
}

/** @param {string|number|undefined} value */
function cellText (value) {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * What a database was measured with, by SciTS' names. Where the queries differ, as the paper's do, their own parameters are left out.
 * @param {DoneCell[]} cells  of one database
 * @returns {Record<string, string|number>}
 */
export function settingsOf (cells) {
  const all = cells.map(({ parameters }) => parameters)
  const of = (/** @type {string} */ workload) => all.filter(each => each.workload === workload)
  const list = (/** @type {string} */ workload, /** @type {string} */ name) => [...new Set(of(workload).map(each => each[name]))].join(',')
  const [first] = all
  const queries = of('query')
  const [query] = queries
  const optional = {
    BatchSizeOptions: list('batching', 'batchRows'),
    ClientNumberOptions: list('concurrency', 'clients'),
    TestRetries: of('batching')[0]?.batches ?? query?.runs,
    QueryType: queries.length > 1 ? 'All' : query && QUERIES[query.query].operation,
    DurationMinutes: query?.durationMinutes ?? (queries.length === 1 ? QUERIES[query.query].minutes : undefined),
    AggregationIntervalHour: query && (query.aggregationIntervalHour ?? 1),
    SensorsFilter: query?.sensorsFilter,
    SensorID: query?.sensorId,
    FirstSensorID: query?.firstSensorId,
    SecondSensorID: query?.secondSensorId,
    MaxValue: query && (query.maxValue ?? MAX_VALUE),
    MinValue: query && (query.minValue ?? MIN_VALUE)
  }
  const chosen = Object.entries(optional).filter(([, value]) => value !== undefined && value !== '')
  return {
    TargetDatabase: DATABASES[first.database].scits,
    DaySpan: first.daySpan,
    StartTime: new Date(Number(first.startMs)).toISOString().slice(0, -1),
    SensorNumber: first.sensors,
    .../** @type {Record<string, string|number>} */ (Object.fromEntries(chosen))
  }
}
