/**
 * What the paper prints, by our databases: Tables 2 to 7, and what its text says of figures.
 */

/** Figure 3, its peaks; the text. Rows a second. @type {Record<string, number>} */
export const PEAKS = { clickhouse: 1_300_000, influxdb: 790_000, timescaledb: 550_000, postgresql: 400_000 }

/** Figure 2 for batches of 20,000: the means of all four, in ms. */
export const MEAN_AT_20000 = '95–116'

/** Figure 2 for batches of 100,000: what a batch of PostgreSQL's can take, in ms. */
export const POSTGRESQL_AT_100000 = '> 3000'

/** Table 2. @type {Record<string, {duration: string, rowsPerSecond: number, megabytesPerSecond: number}>} */
export const SCALING = {
  clickhouse: { duration: '37:32', rowsPerSecond: 1_278_928, megabytesPerSecond: 30.69 },
  influxdb: { duration: '1:04:43', rowsPerSecond: 741_688.5, megabytesPerSecond: 17.8 },
  timescaledb: { duration: '1:37:55', rowsPerSecond: 490_149.8, megabytesPerSecond: 11.76 },
  postgresql: { duration: '3:48:10', rowsPerSecond: 210_361.9, megabytesPerSecond: 5.04 }
}

/** The text about Figures 4 and 6, in percent; none of the others is in it. */
export const MEMORY = { concurrency: { clickhouse: '≤ 15', influxdb: '≤ 15', timescaledb: '≤ 34', postgresql: '≤ 34' } }
/** @type {Record<string, number>} */
export const IOWAIT = { postgresql: 14.79 }

/** Tables 3 to 7: minimum, mean, 95 %, maximum and standard deviation, in ms. @type {Record<string, Record<string, number[]>>} */
export const LATENCIES = {
  Q1: {
    clickhouse: [131, 177.7, 241.6, 272, 32.64],
    influxdb: [567, 737.5, 1058.95, 1172, 161.36],
    timescaledb: [608, 910.75, 1284.55, 1352, 217.57],
    postgresql: [283, 361.7, 426.6, 457, 51.64]
  },
  Q2: {
    clickhouse: [142, 188.35, 219.3, 263, 26.04],
    influxdb: [387, 442.35, 512.05, 627, 54.96],
    timescaledb: [314, 440.3, 544.05, 602, 81.61],
    postgresql: [1539, 1707.15, 1779, 1950, 90.71]
  },
  Q3: {
    clickhouse: [167, 203.55, 238.3, 244, 22.33],
    influxdb: [280, 427.85, 555.05, 594, 69.04],
    timescaledb: [268, 571.95, 691.25, 791, 106.54],
    postgresql: [600, 657.4, 737.35, 763, 47.12]
  },
  Q4: {
    clickhouse: [175, 237.45, 293.35, 300, 33.42],
    influxdb: [464, 647.9, 816, 873, 87.15],
    timescaledb: [548, 754.6, 965.1, 1024, 114.35],
    postgresql: [9858, 13445.95, 13974.6, 14157, 894.96]
  },
  Q5: {
    clickhouse: [167, 301.7, 397.15, 419, 68.43],
    influxdb: [430, 522.4, 779.6, 810, 109.49],
    timescaledb: [209, 448.6, 666.8, 701, 138.29],
    postgresql: [20344, 20806.1, 21134.8, 21151, 236.76]
  }
}

/** Where the paper contradicts itself, or differs from its published code, by query. @type {Record<string, string>} */
export const QUERY_NOTES = {
  Q1: 'The text says about 5000 points; 100,000 sensors with 2.88 · 10⁹ rows in 15 days have a value every 45 s, and 10 of them about ' +
    '133 in 10 minutes. It gives the maximum of TimescaleDB, 1352, as InfluxDB\'s mean, and the 95 % of TimescaleDB, 1284.55, as its mean.',
  Q2: 'The published configuration has the limits 100,000 and 20,000,000, outside of which are 99 % of the values: nearly every hour is ' +
    'found.',
  Q3: 'One deviation over all ten sensors, as the paper prints it; the published code computes that of one sensor.',
  Q4: 'The text gives the 95 % of ClickHouse, 293.35, as its mean.',
  Q5: 'The text gives 20,806.15 ms as PostgreSQL\'s mean, the table 20,806.1.'
}

export const SCALING_NOTES = [
  'The text says 2.8 · 10⁹ rows; durations and rates of Table 2 give 2.88 · 10⁹ each, which is 48 clients × 200 batches × 20,000 rows × ' +
  '15 days.',
  'The text says that 20 runs of each query were made, and elsewhere 1000.',
  'The paper\'s server had 8 logical cores, 32 GB and 24 disks, with the clients on another machine; here clients and server share one.',
  'In the published code, all rows of a batch are within a second; here times increase regularly, as the paper says. Its indexes are on ' +
  'time, and on sensor and time; here on time and sensor, as the paper says.'
]

/** Table 1. @type {{name: string, description: string, workload: string}[]} */
export const PARAMETERS = [
  { name: 'TargetDatabase', description: 'the type of the target database server', workload: 'ingestion, query' },
  { name: 'DaySpan', description: 'length of the whole time series in days', workload: 'ingestion, query' },
  { name: 'StartTime', description: 'earliest timestamp', workload: 'ingestion, query' },
  { name: 'BatchSizeOptions', description: 'rows of a batch', workload: 'ingestion' },
  { name: 'ClientNumberOptions', description: 'number of concurrent clients', workload: 'ingestion' },
  { name: 'SensorNumber', description: 'number of sensors', workload: 'ingestion' },
  { name: 'QueryType', description: 'the query', workload: 'query' },
  { name: 'TestRetries', description: 'how often a query is repeated; of ingestion, the batches of a client', workload: 'query' },
  { name: 'DurationMinutes', description: 'length of the queried range in minutes', workload: 'query (Q1 to Q5)' },
  { name: 'AggregationIntervalHour', description: 'length of the intervals that are summarised', workload: 'query (Q3 to Q5)' },
  { name: 'SensorsFilter', description: 'the sensors that are queried', workload: 'query (Q1 to Q5)' },
  { name: 'MaxValue', description: 'upper limit of Q2', workload: 'query' },
  { name: 'MinValue', description: 'lower limit of Q2', workload: 'query' }
]

/** @type {Record<string, string>} */
export const VERSIONS = {
  clickhouse: 'ClickHouse 22.1.3.7', influxdb: 'InfluxDB 2.1.1', timescaledb: 'TimescaleDB 2.5.1', postgresql: 'PostgreSQL 13.5'
}
