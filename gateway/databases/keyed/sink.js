import { decide } from '../claims.js'
import { recordKey } from '../commit-records.js'
import { setOf } from '../record-set.js'
import { RecordedSink } from '../recorded/sink.js'
import { SeldomCheck } from '../seldom-check.js'
import { setBack } from '../set-back.js'

/**
 * The sink of every database without transactions whose rows have keys made of their batch, so that writing them again changes nothing:
 * the records follow the rows. What a database supplies is a `Storage`.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

/**
 * @template Session
 * @template Plan
 * @typedef {object} Keyed
 * @property {import('../names.js').NameRules} dialect
 * @property {(session: Session, claims: Claim[]) => Promise<CommitRow[]>} find  the records that hold these, among others
 * @property {(session: Session) => import('../record-set.js').RecordSet} [known]  what has a record, for a database that would need a query
 *   for each; it is kept up to date by `readCommits`
 * @property {(session: Session, places: {batch: Batch, arranged: Batch, plan: Plan}[], how: {probe: boolean, signal?: AbortSignal}) =>
 *   Promise<void>} store  resolves once the rows are stored; those that are there stay as they are, and so does what was stored of a write
 *   that fails. May throw RefusedRows
 * @property {(session: Session, records: CommitRow[], signal?: AbortSignal) => Promise<CommitRow[]|void>} leave  the records of what is
 *   stored; returns those that another writer has left in the meantime
 * @property {(session: Session, merged: CommitRow[]) => Promise<void>} merge  puts each in the place of those within it: first it is
 *   written, then they are deleted, as a record too many does no harm, and one too few does
 */

/**
 * @template Session
 * @template Plan
 * @typedef {Omit<import('../recorded/sink.js').CommonStorage<Session, Plan>, 'compact'> & Keyed<Session, Plan>} Storage
 */

/**
 * @template Session
 * @template Plan
 * @param {Record<string, any>} options  of the sink
 * @param {Storage<Session, Plan>} storage
 * @returns {RecordedSink<Session, Plan>}
 */
export function keyedSink (options, storage) {
  const check = new SeldomCheck()
  return new RecordedSink(options, {
    ...storage,
    write: (session, job) => write(storage, check, session, job),
    async compact (session, merged) {
      const records = await merged()
      await storage.merge(session, records)
      for (const record of records) storage.known?.(session).add(record)
    }
  })
}

/**
 * @template Session
 * @template Plan
 * @param {Storage<Session, Plan>} storage
 * @param {SeldomCheck} check
 * @param {Session} session
 * @param {import('../recorded/sink.js').Job<Plan>} job
 */
async function write (storage, check, session, { batches, wanted, previous, places, probe, signal }) {
  const known = storage.known?.(session)
  // Rows that were staged before have other keys now: another sink may have stored them since memory was filled.
  const wereStaged = batches.some(({ identity }) => identity?.ancestors)
  const held = known && !wereStaged ? known : setOf(await storage.find(session, [...previous, ...wanted.values()]))
  const decision = decide(batches, wanted, claim => held.find(claim), probe)
  const { fresh, duplicates, clashes, records } = decision
  const found = !known || check.isDue(duplicates.length + clashes.length > 0) ? previous : []
  const there = known && found.length > 0 ? setOf(await storage.find(session, found)) : held
  if (!found.every(claim => there.find(claim))) throw setBack(storage.place)
  signal?.throwIfAborted()
  await storage.store(session, fresh.flatMap(batch => {
    const place = places.get(batch)
    return place ? { batch, ...place } : []
  }), { probe, signal })
  if (probe) return decision
  signal?.throwIfAborted()
  const late = await storage.leave(session, records, signal) ?? []
  for (const record of records) known?.add(record)
  if (late.length === 0) return { ...decision, found }
  const isLate = new Set(late.map(recordKey))
  const left = setOf(await storage.find(session, late))
  const again = decide(fresh, wanted, claim => isLate.has(recordKey(claim)) ? left.find(claim) : undefined)
  return { ...decision, found, duplicates: [...duplicates, ...again.duplicates], clashes: [...clashes, ...again.clashes] }
}
