import { resolve } from 'node:path'
import { withDefaults } from '../../base/defaults.js'
import { Turns } from '../../base/turns.js'
import { COMMITS_TABLE } from '../names.js'
import { oldRecords } from '../old-records.js'
import { setOf } from '../record-set.js'
import { setBack } from '../set-back.js'
import { KEY, MERGED, named, rowOf } from './commit-records.js'
import { sqlSink } from './sink.js'
import { columnsOf } from './tables.js'

/**
 * The sinks of a database that is a file, written to by one transaction at a time.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 *
 * @typedef {object} FileSession
 * @property {(sql: string, parameters?: any) => Promise<any[]>|any[]} run  a statement with parameters by name; returns rows as objects
 * @property {() => boolean} isReplaced  another file has its name now
 * @property {() => void} close
 */

/**
 * @template {FileSession} Session
 * @template Plan
 * @param {object} database
 * @param {{properties: Record<string, object>}} database.schema  of the options
 * @param {import('../wide.js').Dialect & import('../names.js').NameRules} database.dialect
 * @param {ReturnType<typeof import('./commit-records.js').commitStatements>} database.commits
 * @param {(session: Session, claims: Claim[]) => Promise<any[]>|any[]} database.findCommits  the records that may hold these
 * @param {(session: Session, records: CommitRow[]) => Promise<void>|void} database.insertCommits
 * @param {(error: unknown) => boolean} database.isTransient
 * @param {import('./sink.js').Storage<Session, Plan>['failure']} database.failure
 * @param {(path: string) => Promise<Session>|Session} database.open
 * @param {(session: Session, name: string, wanted: import('../wide.js').WideColumn[], withSource: boolean, layout: any) => Promise<Plan>}
 *   database.prepareTable  as a `Storage` does
 * @param {(session: Session, name: string) => Promise<import('../recorded/aging.js').AgingTable|null>} database.agingTable
 * @param {(session: Session, plan: Plan, batches: Batch[]) => Promise<void>|void} database.insert  arranged batches
 * @param {string} [database.begin]  a transaction
 * @returns {(given: Record<string, unknown>) => Promise<import('../sink.js').Sink>} opens a sink
 */
export function fileSinks (database) {
  const { schema, dialect, commits, findCommits, insertCommits, isTransient } = database
  const { failure, open, prepareTable, agingTable, insert, begin = 'BEGIN' } = database
  /** Of several sinks, also of one file, each ends its transaction before the next one begins. */
  const turns = new Turns(1)

  /** @param {Session} session @param {Claim[]} claims */
  const heldBy = async (session, claims) => setOf((await findCommits(session, claims)).map(rowOf))

  return async given => {
    const { file, ...options } = withDefaults(schema, given)
    const path = resolve(file)
    /** @type {Session|null} */
    let opened = null
    const shut = () => {
      opened?.close()
      opened = null
    }
    const place = `${dialect.product} file "${path}"`
    return sqlSink(options, {
      dialect,
      place,
      isTransient,
      failure,
      use: (work, signal) => turns.run(async () => {
        const session = opened ??= await open(path)
        if (session.isReplaced()) {
          shut()
          throw setBack(place)
        }
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

      async prepareCommits ({ run }) {
        await run(commits.create)
        const columns = await run(`SELECT name FROM pragma_table_info('${COMMITS_TABLE}')`)
        if (!columns.some(({ name }) => name === 'hash')) throw oldRecords(place)
      },
      readCommits: async ({ run }) => (await run(commits.read)).map(rowOf),
      nameStore: ({ run }, id) => Promise.resolve(run(commits.nameStore, { id })),
      async claim (session, wanted, previous) {
        const held = await heldBy(session, [...wanted, ...previous])
        if (!previous.every(claim => held.find(claim))) return []
        const fresh = wanted.filter(record => !held.find(record))
        if (fresh.length > 0) await insertCommits(session, fresh)
        return fresh
      },
      find: async (session, wanted) => (await heldBy(session, wanted)).rows,
      async move ({ run }, records) {
        for (const record of records) await run(commits.move, named(record, KEY))
      },
      async compact ({ run }, merged) {
        await run(begin)
        for (const record of await merged()) {
          await run(commits.absorb, named(record, [...KEY, 'last']))
          await run(commits.extend, named(record, [...KEY, ...MERGED]))
        }
        await run('COMMIT')
      },
      prepareTable: (session, name, arranged, withSource) =>
        prepareTable(session, name, columnsOf(arranged, dialect, withSource, options), withSource, options.layout),
      agingTable,
      async store (session, claimed, { probe }) {
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
