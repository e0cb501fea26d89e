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
 * @property {boolean} [inMemory]  all records are held there, and looked for in the database but seldom: each look is a request
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
 * Of a server whose sessions need no giving back.
 * @template Session
 * @param {(signal?: AbortSignal) => Session|Promise<Session>} session
 * @returns {Storage<Session, any>['use']}
 */
export function lending (session) {
  return async (work, signal) => {
    signal?.throwIfAborted()
    return work(await session(signal))
  }
}

/**
 * @template Session
 * @template Plan
 * @param {Record<string, any>} options  of the sink
 * @param {Storage<Session, Plan>} storage
 * @returns {RecordedSink<Session, Plan>}
 */
export function keyedSink (options, storage) {
  const memory = storage.inMemory ? { held: setOf([]), check: new SeldomCheck() } : null
  const readCommits = async (/** @type {Session} */ session) => {
    const records = await storage.readCommits(session)
    if (memory) memory.held = setOf(records)
    return records
  }
  return new RecordedSink(options, {
    ...storage,
    readCommits,
    async prepareCommits (session) {
      await storage.prepareCommits(session)
      if (memory) await readCommits(session)
    },
    write: (session, job) => write(storage, memory, session, job),
    async compact (session, merged) {
      const records = await merged()
      await storage.merge(session, records)
      for (const record of records) memory?.held.add(record)
    }
  })
}

/**
 * @template Session
 * @template Plan
 * @param {Storage<Session, Plan>} storage
 * @param {{held: import('../record-set.js').RecordSet, check: SeldomCheck}|null} memory
 * @param {Session} session
 * @param {import('../recorded/sink.js').Job<Plan>} job
 */
async function write (storage, memory, session, { batches, wanted, previous, places, probe, signal }) {
  // Rows that were staged before have other keys now: another sink may have stored them since memory was filled.
  const wereStaged = batches.some(({ identity }) => identity?.ancestors)
  const held = memory && !wereStaged ? memory.held : setOf(await storage.find(session, [...previous, ...wanted.values()]))
  const decision = decide(batches, wanted, claim => held.find(claim), probe)
  const { fresh, duplicates, clashes, records } = decision
  const found = !memory || memory.check.isDue(duplicates.length + clashes.length > 0) ? previous : []
  const there = memory && found.length > 0 ? setOf(await storage.find(session, found)) : held
  if (!found.every(claim => there.find(claim))) throw setBack(storage.place)
  signal?.throwIfAborted()
  await storage.store(session, fresh.flatMap(batch => {
    const place = places.get(batch)
    return place ? { batch, ...place } : []
  }), { probe, signal })
  if (probe) return decision
  signal?.throwIfAborted()
  const late = await storage.leave(session, records, signal) ?? []
  for (const record of records) memory?.held.add(record)
  if (late.length === 0) return { ...decision, found }
  const isLate = new Set(late.map(recordKey))
  const left = setOf(await storage.find(session, late))
  const again = decide(fresh, wanted, claim => isLate.has(recordKey(claim)) ? left.find(claim) : undefined)
  return { ...decision, found, duplicates: [...duplicates, ...again.duplicates], clashes: [...clashes, ...again.clashes] }
}
