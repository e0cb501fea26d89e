import { counterOf, markOf } from '../batch/epochs.js'
import { RangeSet } from '../batch/ranges.js'

/**
 * The balance of a sink and a source: produced = before it began + stored + dead letters + settled + parked + lost + in flight. It comes
 * from what the sink's database and the source's spools say, so it is the same after a restart.
 *
 * @typedef {object} Balance  in rows
 * @property {number} produced
 * @property {number} beforeItBegan
 * @property {number} stored
 * @property {number} deadLetters
 * @property {number} settled  by a flow, which dropped them, or stored what it made of them
 * @property {number} parked  until the next deploy
 * @property {number} lost  no spool holds them any more, and they are not recorded
 * @property {number} inFlight
 *
 * @typedef {[first: number, last: number, rows: number]} RowRange
 *
 * @typedef {object} SpoolView  what one spool says of the source (see docs/protocol.md, head)
 * @property {number} rows
 * @property {number} replacedRows
 * @property {{epoch: string, first: number, last: number, before: number, rows: number, lost: RowRange[], replaced: RowRange[]}[]} epochs
 *
 * @typedef {{epoch: string, first: number, last: number, staged: number, stored: number, dead: number, before: number}} RecordView
 */

/** What a balance consists of, in the order in which it is written. */
const TERMS = /** @type {const} */ (['beforeItBegan', 'stored', 'deadLetters', 'settled', 'parked', 'lost', 'inFlight'])

/**
 * @param {object} views
 * @param {SpoolView[]} views.spools  those that stage the source; none while no head has come
 * @param {RecordView[]} views.records  the sink's
 * @param {{epoch: string, seq: number, rows: number}[]} [views.parked]  of what is not recorded
 * @returns {Balance}
 */
export function balanceOf ({ spools, records, parked = [] }) {
  const named = new Map(spools.flatMap(spool => spool.epochs.map(({ epoch }) => /** @type {const} */ ([markOf(epoch), spool]))))
  /** What is recorded of spools that no head is known of, by their marks. @type {Map<string, SpoolView>} */
  const gone = new Map()
  for (const { epoch } of [...records, ...parked]) {
    const mark = markOf(epoch)
    if (!named.has(mark)) gone.set(mark, gone.get(mark) ?? { rows: 0, replacedRows: 0, epochs: [] })
  }
  const spoolOf = (/** @type {{epoch: string}} */ { epoch }) => named.get(markOf(epoch)) ?? gone.get(markOf(epoch))
  return sumOf([...spools, ...gone.values()].map(spool => {
    const isIts = (/** @type {{epoch: string}} */ each) => spoolOf(each) === spool
    return ofSpool(spool, records.filter(isIts), parked.filter(isIts))
  }))
}

/**
 * What becomes of rows, as far as only records say it.
 * @param {RecordView[]} records
 * @returns {[before: number|null, dead: number, settled: number]}
 */
export function outcomeOf (records) {
  return records.reduce(([before, all, settled], { staged, stored, dead }) => [before, all + dead, settled + staged - stored - dead],
    [firstOf(records)?.before ?? null, 0, 0])
}

/** @param {Iterable<Balance>} balances @returns {Balance} */
export function sumOf (balances) {
  const total = emptyBalance()
  for (const balance of balances) {
    for (const term of /** @type {const} */ (['produced', ...TERMS])) total[term] += balance[term]
  }
  return total
}

/** @returns {Balance} */
export function emptyBalance () {
  return { produced: 0, beforeItBegan: 0, stored: 0, deadLetters: 0, settled: 0, parked: 0, lost: 0, inFlight: 0 }
}

/**
 * @param {SpoolView} spool
 * @param {RecordView[]} records
 * @param {{epoch: string, seq: number, rows: number}[]} parked
 * @returns {Balance}
 */
function ofSpool ({ rows, replacedRows, epochs }, records, parked) {
  const balance = emptyBalance()
  for (const { staged, stored, dead } of records) {
    balance.stored += stored
    balance.deadLetters += dead
    balance.settled += staged - stored - dead
  }
  balance.parked = sum(parked)
  for (const epoch of epochs) {
    const its = (/** @type {{epoch: string}} */ each) => each.epoch === epoch.epoch
    balance.inFlight += inFlight(epoch, records.filter(its), parked.filter(its))
  }
  const oldest = Math.min(...epochs.map(({ before }) => before), firstOf(records)?.before ?? Infinity)
  balance.beforeItBegan = oldest === Infinity ? rows : oldest
  balance.produced = rows - replacedRows + newer(rows, epochs, records)
  const rest = balance.produced - TERMS.reduce((total, term) => total + balance[term], 0)
  balance.lost = Math.max(0, rest)
  balance.produced -= Math.min(0, rest) // the database is ahead of what the spool has said
  return balance
}

/**
 * The rows that an epoch still holds for the sink.
 * @param {SpoolView['epochs'][number]} epoch
 * @param {RecordView[]} records
 * @param {{seq: number, rows: number}[]} parked
 */
function inFlight ({ first, last, before, rows, lost, replaced }, records, parked) {
  const gone = new RangeSet()
  for (const [from, to] of [...lost, ...replaced]) gone.add(from, to)
  const settled = new RangeSet(gone.ranges)
  for (const record of records) settled.add(record.first, record.last)
  for (const { seq } of parked) settled.add(seq)
  if (settled.missing(first, last).length === 0) return 0
  const recorded = sum(records.filter(record => record.last >= first && record.first <= last).map(record => {
    const isHeld = record.first >= first && record.last <= last
    const its = isHeld ? record.staged : Math.max(0, Math.min(rows, record.before + record.staged) - Math.max(before, record.before))
    const kept = gone.missing(record.first, record.last).reduce((count, [from, to]) => count + to - from + 1, 0)
    return { rows: Math.round(its * kept / (record.last - record.first + 1)) }
  }))
  const within = [...lost, ...replaced].filter(([from, to]) => to >= first && from <= last).map(range => ({ rows: range[2] }))
  return Math.max(0, rows - before - recorded - sum(within) - sum(parked))
}

/**
 * Rows recorded of batches that the spool had not announced yet. One that was set back may have counted them without naming their epoch.
 * @param {number} rows  that it has announced
 * @param {SpoolView['epochs']} epochs
 * @param {RecordView[]} records
 */
function newer (rows, epochs, records) {
  const ends = new Map(epochs.map(({ epoch, last }) => [epoch, last]))
  const newest = Math.max(-1, ...epochs.map(({ epoch }) => counterOf(epoch)))
  return sum(records
    .filter(({ epoch, first }) => ends.has(epoch) ? first > /** @type {number} */ (ends.get(epoch)) : counterOf(epoch) > newest)
    .map(({ before, staged }) => ({ rows: Math.max(0, Math.min(staged, before + staged - rows)) })))
}

/** Of those that count rows: others only say what was staged again. @param {RecordView[]} records @returns {RecordView|undefined} */
function firstOf (records) {
  return records.filter(({ staged }) => staged > 0).reduce((/** @type {RecordView|undefined} */ least, record) => {
    if (!least) return record
    return (counterOf(record.epoch) - counterOf(least.epoch) || record.first - least.first) < 0 ? record : least
  }, undefined)
}

/** @param {{rows: number}[]} parts */
function sum (parts) { return parts.reduce((total, { rows }) => total + rows, 0) }
