import { decide } from '../claims.js'
import { recordKey } from '../commit-records.js'
import { setOf } from '../record-set.js'
import { RecordedSink } from '../recorded/sink.js'
import { setBack } from '../set-back.js'

/**
 * The sink of every database with SQL and transactions. What a database supplies is a `Storage`: connection, dialect, fast writing of rows
 * and what its errors mean. `sql/tables.js`, `sql/commit-records.js` and, for databases that are files, `sql/file-sink.js` help to write
 * one.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../claims.js').Decision} Decision
 */

/**
 * @template Session
 * @template Plan
 * @typedef {object} Transactions
 * @property {import('../wide.js').Dialect & import('../names.js').NameRules} dialect
 * @property {(session: Session, wanted: CommitRow[], previous: Claim[]) => Promise<Claim[]>} claim  within the transaction of `store`:
 *   leaves records where there are none, and returns those; nothing where one of the previous is missing. Where another transaction is
 *   storing the same batch, it waits for its end. `wanted` has each batch once, and at least one
 * @property {(session: Session, wanted: Claim[]) => Promise<CommitRow[]>} find  within the transaction of `store`: the records that hold
 *   these, among others
 * @property {(session: Session, records: CommitRow[]) => Promise<void>} move  within the transaction of `store`: these, just claimed, count
 *   no rows
 * @property {(session: Session, claimed: () => Promise<Map<Plan, Batch[]>>, how: {probe: boolean}) => Promise<void>} store
 *   one transaction: begins it, calls `claimed`, writes the rows that it returns (arranged batches by their plan), and commits; with
 *   `probe` it rolls back, after all that could refuse the rows
 */

/**
 * @template Session
 * @template Plan
 * @typedef {import('../recorded/sink.js').CommonStorage<Session, Plan> & Transactions<Session, Plan>} Storage
 */

/**
 * @template Session
 * @template Plan
 * @param {Record<string, any>} options  of the sink
 * @param {Storage<Session, Plan>} storage
 * @returns {RecordedSink<Session, Plan>}
 */
export function sqlSink (options, storage) {
  return new RecordedSink(options, { ...storage, write: (session, job) => transact(storage, session, job) })
}

/**
 * @template Session
 * @template Plan
 * @param {Storage<Session, Plan>} storage
 * @param {Session} session
 * @param {import('../recorded/sink.js').Job<Plan>} job
 */
async function transact (storage, session, job) {
  let decision = /** @type {Decision} */ ({})
  await storage.store(session, async () => {
    decision = await leaveRecords(storage, session, job)
    /** @type {Map<Plan, Batch[]>} */
    const rows = new Map()
    for (const batch of decision.fresh) {
      const place = job.places.get(batch)
      if (!place) continue
      const group = rows.get(place.plan)
      if (group) group.push(place.arranged)
      else rows.set(place.plan, [place.arranged])
    }
    return rows
  }, job)
  return decision
}

/**
 * Leaves the commit records of what is not stored yet. Mostly that is all of it, and a single statement.
 * @template Session
 * @param {Storage<Session, any>} storage
 * @param {Session} session
 * @param {import('../recorded/sink.js').Job<any>} job
 */
async function leaveRecords (storage, session, { batches, wanted, previous, probe }) {
  const records = [...wanted.values()]
  const claimed = new Set(records.length > 0 ? (await storage.claim(session, records, previous)).map(recordKey) : [])
  const expected = [...records.filter(record => !claimed.has(recordKey(record))), ...claimed.size === 0 ? previous : []]
  const held = setOf(expected.length > 0 ? await storage.find(session, expected) : [])
  if (!expected.every(claim => held.find(claim))) throw setBack(storage.place)
  const decision = decide(batches, wanted, claim => claimed.has(recordKey(claim)) ? undefined : held.find(claim), probe)
  if (decision.moved.length > 0) await storage.move(session, decision.moved)
  return decision
}
