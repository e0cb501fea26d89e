import { RangeSet } from '../batch/ranges.js'
import { countsRows, recordKey, streamKey } from './commit-records.js'

/**
 * Which batches of a write are stored, by the commit records that there are: the one place that decides it for all databases.
 *
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('../batch/batch.js').Identity} Identity
 * @typedef {import('./commit-records.js').CommitRow} CommitRow
 * @typedef {import('./commit-records.js').Stream & {seq: number}} Claim  names the record of one batch
 *
 * @typedef {object} Decision
 * @property {Batch[]} fresh  whose rows are to be stored
 * @property {Batch[]} duplicates  stored already, under this identity or one that the same rows had before
 * @property {Batch[]} clashes  whose identity another batch has taken
 * @property {CommitRow[]} records  to be left
 * @property {CommitRow[]} moved  those of them whose rows are stored under an earlier identity: they count no rows
 */

/**
 * The records that a write is to leave: of each identity one. Of rows that were staged before under other identities also one of each of
 * those, which counts no rows: should it come late, its rows are or will be stored as what they were staged again as.
 * @param {Batch[]} batches
 * @param {(source: string) => string} tableOf  by its name in records
 * @returns {Map<string, CommitRow>} by key
 */
export function wantedRecords (batches, tableOf) {
  /** @type {Map<string, CommitRow>} */
  const wanted = new Map()
  const add = (/** @type {Identity} */ identity, /** @type {(table: string) => CommitRow} */ recordIn) => {
    const key = recordKey(identity)
    if (!wanted.has(key)) wanted.set(key, recordIn(tableOf(identity.source)))
  }
  const identified = batches.filter(({ identity }) => identity)
  for (const batch of identified) add(/** @type {Identity} */ (batch.identity), table => recordOf(batch, table))
  for (const { identity } of identified) {
    for (const ancestor of ancestorsOf(/** @type {Identity} */ (identity))) add(ancestor, table => emptyRecord(ancestor, table))
  }
  return wanted
}

/**
 * @param {Batch[]} batches
 * @param {Map<string, CommitRow>} wanted  their records
 * @param {(claim: Claim) => CommitRow|undefined} find  the record that held an identity before this write
 * @param {boolean} [probe]  several slices of one batch are all to be tried
 * @returns {Decision}
 */
export function decide (batches, wanted, find, probe = false) {
  const isNew = new Set([...wanted].flatMap(([key, record]) => find(record) ? [] : [key]))
  const isStored = (/** @type {Identity} */ ancestor) => {
    const key = recordKey(ancestor)
    const its = /** @type {CommitRow} */ (wanted.get(key))
    const record = isNew.has(key) ? its : /** @type {CommitRow} */ (find(its))
    return countsRows(record) && isSame(record, ancestor.hash ?? 0)
  }
  const isMoved = new Set(batches.flatMap(({ identity }) => {
    const key = identity && recordKey(identity)
    return key && isNew.has(key) && ancestorsOf(identity).some(isStored) ? [key] : []
  }))
  const met = new Set()
  const verdictOf = (/** @type {Batch} */ { identity }) => {
    if (!identity) return 'fresh'
    const key = recordKey(identity)
    const its = /** @type {CommitRow} */ (wanted.get(key))
    const stored = isNew.has(key) ? its : /** @type {CommitRow} */ (find(its))
    if (!isSame(stored, identity.hash ?? 0)) return 'clashes'
    if (!isNew.has(key) || isMoved.has(key) || (met.has(key) && !probe)) return 'duplicates'
    met.add(key)
    return 'fresh'
  }
  const { fresh = [], duplicates = [], clashes = [] } = Object.groupBy(batches, verdictOf)
  const records = [...wanted].flatMap(([key, record]) => {
    if (!isNew.has(key)) return []
    return isMoved.has(key) ? { ...record, staged: 0, stored: 0, dead: 0 } : record
  })
  return { fresh, duplicates, clashes, records, moved: records.filter(record => isMoved.has(recordKey(record))) }
}

/** Where the records are that hold these: in each stream, ranges of `seq`. @param {Claim[]} claims */
export function rangesOf (claims) {
  return Array.from(Map.groupBy(claims, streamKey).values(), its => ({
    stream: its[0], ranges: new RangeSet(its.map(({ seq }) => [seq, seq])).ranges.map(range => range.map(Number))
  }))
}

/** The identities under which the same rows were staged before. @param {Identity} identity @returns {Identity[]} */
function ancestorsOf ({ gateway, source, before, ancestors = [] }) {
  return ancestors.map(({ epoch, seq, hash }) => ({ gateway, source, epoch, seq, hash, before }))
}

/**
 * What a batch of rows leaves. Of rows that are missing some are dead letters; a batch that had none to begin with was settled by a flow.
 * @param {Batch} batch  with an identity
 * @param {string} table
 * @returns {CommitRow}
 */
function recordOf ({ rows, origin, identity }, table) {
  const its = /** @type {Identity} */ (identity)
  const staged = its.rows ?? origin?.whole.rows ?? rows
  return { ...emptyRecord(its, table), staged, stored: rows, dead: rows > 0 || origin ? staged - rows : 0 }
}

/** @param {Identity} identity @param {string} table @returns {CommitRow} */
function emptyRecord ({ gateway, source, epoch, seq, hash = 0, before = 0 }, table) {
  return { table, gateway, source, epoch, seq, last: seq, hash, staged: 0, stored: 0, dead: 0, before }
}

/**
 * Within a range, the batches' own hashes are not known any more: spools verified them before it was made.
 * @param {CommitRow} record
 * @param {number} hash
 */
function isSame ({ seq, last, hash: stored }, hash) {
  return last > seq || stored === hash
}
