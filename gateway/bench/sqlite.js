import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { open } from '../databases/sqlite/sink.js'
import { median, narrowBatches } from './narrow-rows.js'

/** @typedef {import('../batch/batch.js').Batch} Batch */

const RUNS = 3
const ROWS_PER_STATEMENT = 100

/**
 * The SQLite sink against plain loops over the same rows into the same columns with the same index, in turns: a prepared insert per row in
 * one transaction for all (`perRow`), and a hundred rows per statement in a transaction per batch, as durable as the sink (`multiRow`). The
 * sink also leaves its commit records.
 * @param {{rows?: number, batchRows?: number}} [options]
 * @returns {Promise<{rows: number, batchRows: number, ours: number, perRow: number, multiRow: number, ratio: number}>} medians in rows per
 *   second; `ratio` is to the better loop
 */
export async function benchSqlite ({ rows = 500_000, batchRows = 20_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  const batches = narrowBatches({ rows, batchRows, source: 'rows' })
  const ways = { ours: throughSink, perRow: rowByRow, multiRow: manyRows }
  /** @type {Record<keyof typeof ways, number[]>} */
  const rates = { ours: [], perRow: [], multiRow: [] }
  try {
    for (let run = 0; run <= RUNS; run++) {
      for (const way of /** @type {(keyof typeof ways)[]} */ (Object.keys(ways))) {
        const seconds = await ways[way](join(folder, `${way} ${run}`), batches)
        // The first turn only warms up.
        if (run > 0) rates[way].push(rows / seconds)
      }
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  const [ours, perRow, multiRow] = [median(rates.ours), median(rates.perRow), median(rates.multiRow)]
  return { rows, batchRows, ours, perRow, multiRow, ratio: ours / Math.max(perRow, multiRow) }
}

/** @param {string} file @param {Batch[]} batches */
async function throughSink (file, batches) {
  const sink = await open({ file })
  try {
    await sink.prepare(batches)
    const start = performance.now()
    for (const batch of batches) await sink.write([batch])
    return (performance.now() - start) / 1000
  } finally {
    await sink.close()
  }
}

/** @param {string} file @param {Batch[]} batches */
async function rowByRow (file, batches) {
  return inTable(file, database => {
    const insert = database.prepare('INSERT INTO rows VALUES (?, ?, ?)')
    database.exec('BEGIN')
    for (const { time, columns: [sensor, value] } of batches) {
      for (let i = 0; i < time.length; i++) insert.run(time[i], /** @type {number} */ (sensor[i]), /** @type {number} */ (value[i]))
    }
    database.exec('COMMIT')
  })
}

/** A hundred rows a statement, a transaction a batch. @param {string} file @param {Batch[]} batches @returns {Promise<number>} seconds */
export async function manyRows (file, batches) {
  return inTable(file, database => {
    const insert = database.prepare(`INSERT INTO rows VALUES ${Array(ROWS_PER_STATEMENT).fill('(?, ?, ?)').join(', ')}`)
    for (const { time, columns: [sensor, value] } of batches) {
      database.exec('BEGIN')
      for (let first = 0; first + ROWS_PER_STATEMENT <= time.length; first += ROWS_PER_STATEMENT) {
        const values = []
        for (let i = first; i < first + ROWS_PER_STATEMENT; i++) {
          values.push(time[i], /** @type {number} */ (sensor[i]), /** @type {number} */ (value[i]))
        }
        insert.run(...values)
      }
      database.exec('COMMIT')
    }
  })
}

/** @param {string} file @param {(database: DatabaseSync) => void} work @returns {number} seconds */
function inTable (file, work) {
  const database = new DatabaseSync(file)
  try {
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (time INTEGER NOT NULL, sensor INTEGER, value REAL); ' +
      'CREATE INDEX by_time ON rows (time)'
    )
    const start = performance.now()
    work(database)
    return (performance.now() - start) / 1000
  } finally {
    database.close()
  }
}
