import { mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SluiceError, describe } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { Turns } from '../../base/turns.js'
import { isRefusal } from '../refusal.js'
import { SqlSink } from '../sql/sink.js'
import { columnsOf } from '../sql/tables.js'
import { CommitRecords } from './commit-records.js'
import { dialect } from './dialect.js'
import { rollBack } from './roll-back.js'
import { RowInserter } from './rows.js'
import { schema } from './sink.schema.js'
import { prepareTable } from './tables.js'

export { schema }

/**
 * @typedef {import('./tables.js').Plan} Plan
 * @typedef {{database: DatabaseSync, commits: CommitRecords, inserters: WeakMap<Plan, RowInserter>}} Opened
 */

/** SQLite's primary result codes that say the rows are at fault: too big, a constraint, a type mismatch. */
const REFUSED = [18, 19, 20]

/** Waiting for another process's lock holds up the whole gateway; the writer's retry waits without. */
const BUSY_TIMEOUT_MS = 500

/** All work is in the gateway's own thread: of several sinks, also of one file, each ends its transaction before the next one begins. */
const TURNS = new Turns(1)

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code, errcode }) => code === 'ERR_SQLITE_ERROR' && REFUSED.includes(errcode & 0xff))
}

/**
 * @param {Record<string, unknown>} given  see the schema
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given) {
  const options = withDefaults(schema, given)
  return new SqlSink(options, storage(resolve(options.file), options.layout))
}

/**
 * @param {string} file
 * @param {import('../../batch/layouts.js').Layout} layout
 * @returns {import('../sql/sink.js').Storage<Opened, Plan>}
 */
function storage (file, layout) {
  /** @type {Opened|null} */
  let opened = null
  const shut = () => {
    opened?.database.close()
    opened = null
  }
  return {
    dialect,
    isTransient,
    failure: error => new SluiceError('SLUICE_SINK_SQLITE', `SQLite file "${file}": ${describe(error)}.`, { cause: error }),

    use: (work, signal) => TURNS.run(async () => {
      try {
        return await work(opened ??= openDatabase(file))
      } catch (error) {
        if (opened) rollBack(opened.database)
        // Whatever else failed, the file may have been replaced or its tables changed: start afresh.
        if (isTransient(error)) shut()
        throw error
      }
    }, signal),

    close: () => TURNS.run(async () => shut()),

    async prepareCommits () {}, // done as the file is opened
    readCommits: async ({ commits }) => commits.read(),
    claim: async ({ commits }, wanted) => wanted.filter(each => commits.claim(each)),
    async compact ({ database, commits }, merged) {
      database.exec('BEGIN IMMEDIATE')
      for (const record of await merged()) commits.replace(record)
      database.exec('COMMIT')
    },

    prepareTable: ({ database }, name, arranged, withSource) =>
      prepareTable(database, name, columnsOf(arranged, dialect, withSource, layout), layout),

    async store ({ database, inserters }, claimed, probe) {
      database.exec('BEGIN IMMEDIATE')
      for (const [plan, batches] of await claimed()) {
        const inserter = inserters.get(plan) ?? new RowInserter(database, plan)
        inserters.set(plan, inserter)
        for (const batch of batches) inserter.insert(batch)
      }
      database.exec(probe ? 'ROLLBACK' : 'COMMIT')
    }
  }
}

/** @param {string} file @returns {Opened} */
function openDatabase (file) {
  mkdirSync(dirname(file), { recursive: true })
  const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    return { database, commits: new CommitRecords(database), inserters: new WeakMap() }
  } catch (error) {
    database.close()
    throw error
  }
}
