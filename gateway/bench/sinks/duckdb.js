import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSession } from '../../databases/duckdb/instance.js'
import { settingsOf } from '../settings.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../../databases/duckdb/instance.js').Session} Session
 */

const TABLE = 'CREATE TABLE IF NOT EXISTS rows (time TIMESTAMP_NS NOT NULL, sensor INTEGER, value DOUBLE)'

/** The rows of a data chunk at most. */
const CHUNK_ROWS = 2048

const SETTINGS = '\'memory_limit\', \'threads\', \'checkpoint_threshold\''

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'DuckDB',
  missing: () => null,
  async start (folder) {
    const file = join(folder, 'bench.duckdb')
    const remove = () => { for (const ending of ['', '.wal']) rmSync(file + ending, { force: true }) }
    /** @template T @param {(session: Session) => Promise<T>} work */
    const withSession = async work => {
      const session = await openSession(file)
      try {
        return await work(session)
      } finally {
        session.close()
      }
    }
    /** @param {Batch[]} batches @param {(session: Session, batch: Batch) => Promise<void>} store */
    const timed = (batches, store) => withSession(async session => {
      await session.run(TABLE)
      const start = performance.now()
      for (const batch of batches) await store(session, batch)
      return (performance.now() - start) / 1000
    })
    return {
      version: await withSession(async ({ run }) => `DuckDB ${(await run('SELECT version() AS version'))[0].version}`),
      settings: await settingsOf(() => withSession(async ({ run }) => {
        const rows = await run(`SELECT name, value FROM duckdb_settings() WHERE name IN (${SETTINGS})`)
        return rows.map(({ name, value }) => [String(name), value])
      })),
      address: { type: 'duckdb', options: { file } },
      watched: { folder },
      async clear () { remove() },
      count: () => withSession(async ({ run }) => Number((await run('SELECT count(*) AS count FROM rows'))[0].count)),
      loader: { name: 'the appender\'s own loop, a transaction a batch', run: batches => timed(batches, appendChunks) },
      naive: {
        name: 'a statement a row, each its own transaction',
        rows: 2000,
        run: batches => timed(batches, async ({ duckdb, connection }, { time, columns: [sensor, value] }) => {
          const insert = await connection.prepare('INSERT INTO rows VALUES ($1, $2, $3)')
          for (let i = 0; i < time.length; i++) {
            insert.bind([new duckdb.DuckDBTimestampNanosecondsValue(time[i]), Number(sensor[i]), Number(value[i])])
            await insert.run()
          }
        })
      },
      async remove () { remove() }
    }
  }
}

/**
 * As the package's documentation does it: data chunks of its columns.
 * @param {Session} session
 * @param {Batch} batch
 */
async function appendChunks ({ duckdb, connection, run }, { rows, time, columns: [sensor, value] }) {
  const { DuckDBDataChunk, DuckDBTimestampNanosecondsValue, DOUBLE, INTEGER, TIMESTAMP_NS } = duckdb
  await run('BEGIN')
  const appender = await connection.createAppender('rows')
  for (let from = 0; from < rows; from += CHUNK_ROWS) {
    const to = Math.min(rows, from + CHUNK_ROWS)
    const chunk = DuckDBDataChunk.create([TIMESTAMP_NS, INTEGER, DOUBLE])
    chunk.setColumns([
      Array.from(time.subarray(from, to), each => new DuckDBTimestampNanosecondsValue(each)),
      /** @type {any} */ (sensor).subarray(from, to),
      /** @type {any} */ (value).subarray(from, to)
    ])
    appender.appendDataChunk(chunk)
  }
  appender.closeSync()
  await run('COMMIT')
}
