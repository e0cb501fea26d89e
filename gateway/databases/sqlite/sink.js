import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SluiceError, describe } from '../../base/errors.js'
import { COMMITS_TABLE, quote } from '../names.js'
import { isRefusal } from '../refusal.js'
import { commitStatements } from '../sql/commit-records.js'
import { fileSinks } from '../sql/file-sink.js'
import { dialect } from './dialect.js'
import { RowInserter } from './rows.js'
import { schema } from './sink.schema.js'
import { prepareTable } from './tables.js'

export { schema }

/** SQLite's primary result codes that say the rows are at fault: too big, a constraint, a type mismatch. */
const REFUSED = [18, 19, 20]

/** Waiting for another process's lock holds up the whole gateway; the writer's retry waits without. */
const BUSY_TIMEOUT_MS = 500

const commits = commitStatements(quote(COMMITS_TABLE), { text: 'TEXT', integer: 'INTEGER' })
commits.create += ' WITHOUT ROWID'

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code, errcode }) => code === 'ERR_SQLITE_ERROR' && REFUSED.includes(errcode & 0xff))
}

/** Opens a sink; its options are described in the schema. */
export const open = fileSinks({
  schema,
  dialect,
  commits,
  isTransient,
  failure: (path, error) => new SluiceError('SLUICE_SINK_SQLITE', `SQLite file "${path}": ${describe(error)}.`, { cause: error }),
  open: openDatabase,
  begin: 'BEGIN IMMEDIATE',
  prepareTable: ({ database }, name, wanted, layout) => prepareTable(database, name, wanted, layout),
  insert ({ database, inserters }, plan, batches) {
    const inserter = inserters.get(plan) ?? new RowInserter(database, plan)
    inserters.set(plan, inserter)
    for (const batch of batches) inserter.insert(batch)
  }
})

/** @param {string} file */
function openDatabase (file) {
  mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    return {
      database,
      /** @type {WeakMap<import('./tables.js').Plan, RowInserter>} */
      inserters: new WeakMap(),
      run: (/** @type {string} */ sql, parameters = {}) => database.prepare(sql).all(parameters),
      close: () => database.close()
    }
  } catch (error) {
    database.close()
    throw error
  }
}
