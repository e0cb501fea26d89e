import { recordKey } from './commit-records.js'

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
 * The records that a write is to leave: of each identity one.
 * @param {Batch[]} batches
 * @param {(source: string) => string} tableOf  by its name in records
 * @returns {Map<string, CommitRow>} by key
 */
export function wantedRecords (batches, tableOf) {
  /** @type {Map<string, CommitRow>} */
  const wanted = new Map()
  for (const batch of batches) {
    if (!batch.identity) continue
    const key = recordKey(batch.identity)
    if (!wanted.has(key)) wanted.set(key, recordOf(batch, batch.identity, tableOf(batch.identity.source)))
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
  const isStored = (/** @type {Claim & {hash: number}} */ ancestor) => {
    const key = recordKey(ancestor)
    const record = isNew.has(key) ? wanted.get(key) : find(ancestor)
    return record !== undefined && isSame(record, ancestor.hash)
  }
  const isMoved = new Set(batches.flatMap(({ identity }) => {
    const key = identity && recordKey(identity)
    return key && isNew.has(key) && ancestorsOf(identity, wanted.get(key)).some(isStored) ? [key] : []
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

/**
 * The identities under which the same rows were staged before.
 * @param {Identity} identity
 * @param {{table: string}} [record]  of it
 * @returns {(Claim & {hash: number})[]}
 */
export function ancestorsOf ({ gateway, source, ancestors = [] }, { table } = { table: '' }) {
  return ancestors.map(({ epoch, seq, hash }) => ({ table, gateway, source, epoch, seq, hash }))
}

/**
 * What a batch of rows leaves. Of rows that are missing some are dead letters; a batch that had none to begin with was settled by a flow.
 * @param {Batch} batch
 * @param {Identity} identity
 * @param {string} table
 * @returns {CommitRow}
 */
function recordOf ({ rows, origin }, identity, table) {
  const { gateway, source, epoch, seq, hash = 0, before = 0, rows: staged = origin?.whole.rows ?? rows } = identity
  const dead = rows > 0 || origin ? staged - rows : 0
  return { table, gateway, source, epoch, seq, last: seq, hash, staged, stored: rows, dead, before }
}

/**
 * Within a range, the batches' own hashes are not known any more: spools verified them before it was made.
 * @param {CommitRow} record
 * @param {number} hash
 */
function isSame ({ seq, last, hash: stored }, hash) {
  return last > seq || stored === hash
}
