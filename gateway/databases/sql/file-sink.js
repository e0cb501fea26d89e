import { resolve } from 'node:path'
import { withDefaults } from '../../base/defaults.js'
import { Turns } from '../../base/turns.js'
import { recordKey } from '../commit-records.js'
import { claimParameters } from './commit-records.js'
import { SqlSink } from './sink.js'
import { columnsOf } from './tables.js'

/**
 * The sinks of a database that is a file, written to by one transaction at a time.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 *
 * @typedef {object} FileSession
 * @property {(sql: string, parameters?: any) => Promise<any[]>|any[]} run  a statement with parameters by name; returns rows as objects
 * @property {() => void} close
 */

/** More save nothing, and SQL texts grow long. */
const CLAIMS_A_STATEMENT = 200

/**
 * @template {FileSession} Session
 * @template Plan
 * @param {object} database
 * @param {{properties: Record<string, object>}} database.schema  of the options
 * @param {import('../wide.js').Dialect & import('../names.js').NameRules} database.dialect
 * @param {ReturnType<typeof import('./commit-records.js').commitStatements>} database.commits
 * @param {(error: unknown) => boolean} database.isTransient
 * @param {(path: string, error: unknown) => import('../../base/errors.js').SluiceError} database.failure  what users are told of an error
 * @param {(path: string) => Promise<Session>|Session} database.open
 * @param {(session: Session, name: string, wanted: import('../wide.js').WideColumn[], layout: any) => Promise<Plan>} database.prepareTable
 *   as a `Storage` does
 * @param {(session: Session, plan: Plan, batches: Batch[]) => Promise<void>|void} database.insert  arranged batches
 * @param {string} [database.begin]  a transaction
 * @returns {(given: Record<string, unknown>) => Promise<SqlSink<Session, Plan>>} opens a sink
 */
export function fileSinks ({ schema, dialect, commits, isTransient, failure, open, prepareTable, insert, begin = 'BEGIN' }) {
  /** Of several sinks, also of one file, each ends its transaction before the next one begins. */
  const turns = new Turns(1)

  return async given => {
    const { file, ...options } = withDefaults(schema, given)
    const path = resolve(file)
    /** @type {Session|null} */
    let opened = null
    const shut = () => {
      opened?.close()
      opened = null
    }
    return new SqlSink(options, {
      dialect,
      isTransient,
      failure: error => failure(path, error),
      use: (work, signal) => turns.run(async () => {
        const session = opened ??= await open(path)
        try {
          return await work(session)
        } catch (error) {
          await rollBack(session)
          // Whatever else failed, the file may have been replaced or its tables changed: start afresh.
          if (isTransient(error)) shut()
          throw error
        }
      }, signal),
      close: () => turns.run(async () => shut()),

      async prepareCommits ({ run }) { await run(commits.create) },
      readCommits: async ({ run }) => (await run(commits.read)).map(row => ({ ...row, seq: Number(row.seq), last: Number(row.last) })),
      async claim ({ run }, wanted) {
        const claimed = new Set()
        for (let first = 0; first < wanted.length; first += CLAIMS_A_STATEMENT) {
          const some = wanted.slice(first, first + CLAIMS_A_STATEMENT)
          const rows = await run(commits.claim(some.length), claimParameters(some))
          for (const row of rows) claimed.add(recordKey({ ...row, seq: Number(row.seq) }))
        }
        return wanted.filter(record => claimed.has(recordKey(record)))
      },
      async compact ({ run }, merged) {
        await run(begin)
        for (const record of await merged()) {
          await run(commits.absorb, record)
          await run(commits.extend, record)
        }
        await run('COMMIT')
      },
      prepareTable: (session, name, arranged, withSource) =>
        prepareTable(session, name, columnsOf(arranged, dialect, withSource, options.layout), options.layout),
      async store (session, claimed, probe) {
        await session.run(begin)
        for (const [plan, batches] of await claimed()) await insert(session, plan, batches)
        await session.run(probe ? 'ROLLBACK' : 'COMMIT')
      }
    })
  }
}

/** @param {FileSession} session */
async function rollBack ({ run }) {
  try {
    await run('ROLLBACK')
  } catch {
    // the error has ended the transaction, or there was none
  }
}
