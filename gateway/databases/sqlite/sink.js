import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { FileIdentity } from '../../base/file-identity.js'
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../base/files.js'
import { isRefusal } from '../refusal.js'
import { fileSinks } from '../sql/file-sink.js'
import { commits, findCommits, insertCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { RowInserter } from './rows.js'
import { schema } from './sink.schema.js'
import { agingTable, prepareTable } from './tables.js'

export { schema }

/** SQLite's primary result codes that say the rows are at fault: too big, a constraint, a type mismatch. */
const REFUSED = [18, 19, 20]

/** Waiting for another process's lock holds up the whole gateway; the writer's retry waits without. */
const BUSY_TIMEOUT_MS = 500

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code, errcode }) => code === 'ERR_SQLITE_ERROR' && REFUSED.includes(errcode & 0xff))
}

/** Opens a sink; its options are described in the schema. */
export const open = fileSinks({
  schema,
  dialect,
  commits,
  findCommits: ({ prepare }, claims) => findCommits(prepare, claims),
  insertCommits: ({ prepare }, records) => insertCommits(prepare, records),
  isTransient,
  failure: 'SLUICE_SINK_SQLITE',
  open: openDatabase,
  begin: 'BEGIN IMMEDIATE',
  prepareTable: ({ database }, ...table) => prepareTable(database, ...table),
  agingTable: async ({ database }, name) => agingTable(database, name),
  insert ({ database, inserters }, plan, batches) {
    const inserter = inserters.get(plan) ?? new RowInserter(database, plan)
    inserters.set(plan, inserter)
    for (const batch of batches) inserter.insert(batch)
  }
})

/** @param {string} file */
function openDatabase (file) {
  mkdirSync(dirname(file), { recursive: true, mode: PRIVATE_FOLDER })
  closeSync(openSync(file, 'a', PRIVATE_FILE)) // creates it for its owner only, and so its log
  const identity = new FileIdentity(file)
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; SELECT 1 FROM sqlite_schema') // which creates the log
    const log = new FileIdentity(`${file}-wal`)
    /** @type {Map<string, import('node:sqlite').StatementSync>} */
    const prepared = new Map()
    /** Of the few that every transaction consists of. @param {string} sql */
    const prepare = sql => {
      const statement = prepared.get(sql) ?? database.prepare(sql)
      prepared.set(sql, statement)
      return statement
    }
    return {
      database,
      /** @type {WeakMap<import('./tables.js').Plan, RowInserter>} */
      inserters: new WeakMap(),
      prepare,
      run: (/** @type {string} */ sql, parameters = {}) => prepare(sql).all(parameters),
      isReplaced: () => identity.isReplaced(),
      close () {
        database.close()
        if (!identity.isReplaced() || log.isReplaced()) return
        // SQLite leaves the log of a file that was moved away, and would take it for that of the file in its place.
        for (const ending of ['-wal', '-shm']) rmSync(file + ending, { force: true })
      }
    }
  } catch (error) {
    database.close()
    throw error
  }
}
