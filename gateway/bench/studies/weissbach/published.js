/**
 * What the paper prints (Weißbach, Hilbert, Springer): records a second in table 3, µs in table 4. The values of its figures are in
 * pictures only.
 *
 * @typedef {'read'|'insert'|'update'|'mixed'} Pattern
 * @typedef {{pattern: Pattern, blobBytes: number, best: Named, second: Named}} Placed
 * @typedef {{by: string, value: number}} Named
 */

export const BLOB_BYTES = [1, 10_000, 100_000]

/** @type {Record<Pattern, string>} */
export const PATTERNS = { read: 'Read', insert: 'Insert', update: 'Update', mixed: 'Mixed' }

/** By the type of our sink. */
export const SYSTEMS = {
  mysql: 'MariaDB', mongodb: 'MongoDB', postgresql: 'PostgreSQL', cassandra: 'Cassandra', hbase: 'HBase', sqlite: 'SQLite', duckdb: 'DuckDB'
}

/** Those of the paper, in the order of its tables 1 and 2. */
export const COLUMNS = ['Cassandra', 'MongoDB', 'PostgreSQL', 'MariaDB', 'HBase']

/** What is not measured, and why. */
export const ABSENT = {
  ClickHouse: 'It replaces no single row at once, so its sink has no layout upsert.',
  InfluxDB: 'It finds a point by its tags and time only, so its sink has no layout upsert.'
}
export const NO_ENGINE = 'Of a cluster of six servers. Engines on this machine are in the section Engines, where they are installed.'

/** Tables 1 and 2: in how many experiments an engine was the fastest. @type {Record<'throughput'|'latency', Record<string, number[]>>} */
export const POINTS = {
  throughput: { Apex: [3, 3, 3, 4, 1], Flink: [9, 10, 8, 8, 11], Spark: [0, 0, 2, 1, 1] },
  latency: { Apex: [3, 1, 2, 4, 6], Flink: [5, 3, 4, 1, 3], Spark: [1, 5, 3, 4, 0] }
}

/** @param {Pattern} pattern @param {number} blobBytes @param {[string, number]} best @param {[string, number]} second @returns {Placed} */
function placed (pattern, blobBytes, [by, value], [secondBy, secondValue]) {
  return { pattern, blobBytes, best: { by, value }, second: { by: secondBy, value: secondValue } }
}

/** Table 3. */
export const THROUGHPUT = [
  placed('read', 1, ['Cassandra / Flink', 97_300], ['Cassandra / Apex', 94_500]),
  placed('read', 10_000, ['Cassandra / Apex', 49_300], ['Cassandra / Flink', 48_500]),
  placed('read', 100_000, ['HBase / Flink', 19_900], ['HBase / Apex', 17_500]),
  placed('insert', 1, ['Cassandra / Flink', 227_100], ['Cassandra / Apex', 222_900]),
  placed('insert', 10_000, ['Cassandra / Apex', 38_500], ['Cassandra / Spark', 31_300]),
  placed('insert', 100_000, ['PostgreSQL / Apex', 4_700], ['PostgreSQL / Flink', 4_600]),
  placed('update', 1, ['Cassandra / Flink', 86_200], ['Cassandra / Apex', 85_400]),
  placed('update', 10_000, ['Cassandra / Flink', 30_400], ['Cassandra / Apex', 30_200]),
  placed('update', 100_000, ['Cassandra / Flink', 3_000], ['Cassandra / Apex', 2_900]),
  placed('mixed', 1, ['Cassandra / Flink', 77_200], ['Cassandra / Apex', 76_900]),
  placed('mixed', 10_000, ['Cassandra / Apex', 27_400], ['Cassandra / Spark', 27_200]),
  placed('mixed', 100_000, ['MongoDB / Flink', 3_900], ['MongoDB / Flink', 3_500])
]

/** Table 4. */
export const LATENCY = [
  placed('read', 1, ['PostgreSQL', 261], ['MariaDB', 342]),
  placed('read', 10_000, ['Cassandra', 437], ['MariaDB', 841]),
  placed('read', 100_000, ['Cassandra', 1551], ['HBase', 1891]),
  placed('update', 1, ['PostgreSQL', 295], ['Cassandra', 364]),
  placed('update', 10_000, ['Cassandra', 645], ['PostgreSQL', 1035]),
  placed('update', 100_000, ['Cassandra', 1652], ['PostgreSQL', 1718]),
  placed('mixed', 1, ['Cassandra', 342], ['PostgreSQL', 364]),
  placed('mixed', 10_000, ['Cassandra', 741], ['PostgreSQL', 902]),
  placed('mixed', 100_000, ['Cassandra', 1229], ['PostgreSQL', 1832])
]

/**
 * The best that the paper has of a system, whatever the engine.
 * @param {Placed[]} table @param {string} system @param {string} pattern @param {number} blobBytes
 * @returns {number|null}
 */
export function bestOf (table, system, pattern, blobBytes) {
  const row = table.find(each => each.pattern === pattern && each.blobBytes === blobBytes)
  return [row?.best, row?.second].find(each => each?.by.split(' / ')[0] === system)?.value ?? null
}

/** What a reader of the paper has to know. */
export const CONTRADICTIONS = Object.freeze({
  throughput: [
    'Table 3 names MongoDB with Flink twice in its last row.',
    'The text says that mixed access is even slower than updates alone. With BLOBs of 100,000 bytes it is faster in table 3, 3,900 and ' +
    '3,000.'
  ],
  latency: [
    'The text says of reading with BLOBs of 1 byte that MongoDB, MariaDB and Cassandra are very quick. In table 4, PostgreSQL is the ' +
    'quickest, and none but MariaDB is named beside it.',
    'Of updates with BLOBs of 1 byte, the text says that PostgreSQL and Cassandra are very close: 295 and 364 µs.'
  ],
  points: ['Table 1 has 64 points for 60 experiments: in four, two engines were equal.']
})
