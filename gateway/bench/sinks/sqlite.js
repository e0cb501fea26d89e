import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { manyRows } from '../sqlite.js'

/** @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'SQLite, index on time',
  missing: () => null,
  async start (folder) {
    const file = join(folder, 'bench.sqlite')
    const remove = () => { for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true }) }
    /** @template T @param {(database: DatabaseSync) => T} work */
    const withDatabase = work => {
      const database = new DatabaseSync(file)
      try {
        return work(database)
      } finally {
        database.close()
      }
    }
    return {
      version: withDatabase(database => `SQLite ${database.prepare('SELECT sqlite_version() AS version').get()?.version}`),
      address: { type: 'sqlite', options: { file } },
      watched: { folder },
      async clear () { remove() },
      count: async () => withDatabase(database => {
        const tables = database.prepare('SELECT name FROM sqlite_schema WHERE type = \'table\' AND name <> \'sluice_commits\'').all()
        return tables.reduce((sum, { name }) => sum + Number(database.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.count), 0)
      }),
      loader: { name: 'plain loop, 100 rows a statement, a transaction a batch', run: batches => manyRows(file, batches) },
      naive: {
        name: 'a statement a message, each its own transaction (node-red-node-sqlite)',
        rows: 2000,
        run: async batches => withDatabase(database => {
          database.exec('CREATE TABLE rows (time INTEGER NOT NULL, sensor INTEGER, value REAL); CREATE INDEX by_time ON rows (time)')
          const start = performance.now()
          for (const { time, columns: [sensor, value] } of batches) {
            for (let i = 0; i < time.length; i++) {
              const insert = database.prepare('INSERT INTO rows VALUES (?, ?, ?)')
              insert.run(time[i], /** @type {number} */ (sensor[i]), /** @type {number} */ (value[i]))
            }
          }
          return (performance.now() - start) / 1000
        })
      },
      async remove () { remove() }
    }
  }
}
