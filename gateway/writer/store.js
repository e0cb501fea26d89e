import { describe } from '../base/errors.js'
import { RefusedRows } from '../databases/refusal.js'
import { deadLetter } from '../dead-letters/dead-letter.js'
import { shareFull } from '../dead-letters/queue.js'
import { isolate } from './isolate.js'
import { PendingBatch } from './pending-batch.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('../dead-letters/queue.js').DeadLetterQueue} DeadLetterQueue
 *
 * @typedef {object} Tools
 * @property {Pick<import('../databases/sink.js').Sink, 'prepare'|'write'>} sink
 * @property {import('./retry.js').Retry} retry
 * @property {DeadLetterQueue} deadLetters
 * @property {{errors: number}} meter
 * @property {import('../base/log.js').QuietLog} log
 *
 * @typedef {{outcomes: ReadonlyMap<PendingBatch, 'duplicate'|'clash'>}|{misfit: unknown}|{refused: unknown}} Attempt  an error with
 *   which preparing or writing was refused
 * @typedef {{part: PendingBatch, row: number, error: unknown}} Fault  a row of the whole batch
 */

/** So long a group waits for tables: what needs others is stored with a later one. */
const PREPARE_MS = 1000

/**
 * Stores a group of batches in one transaction. Rows that the database refuses become dead letters, on disk before the others are
 * committed. Rows that are dead letters already, from an attempt before a crash, are left out: what was refused once is never stored under
 * its old identity.
 *
 * @param {Batch[]} batches
 * @param {Tools} tools
 * @returns {Promise<{part: PendingBatch, outcome: 'stored'|'duplicate'|'clash'|'unkept'|'later'}[]>} in the order given; `unkept`: not
 *   stored, since its source has had its share of the dead letters; `later`: nothing was done with it, as making its table and others takes
 *   long. Rejects only when the retry is released
 */
export async function storeGroup (batches, tools) {
  const { retry, deadLetters } = tools
  const parts = batches.map(batch => {
    const part = new PendingBatch(batch)
    const settled = batch.identity && deadLetters.settledRows(batch.identity)
    if (settled) part.bury(row => settled.has(row))
    return part
  })
  const group = new Group(parts, tools)
  try {
    for (let together = false, fruitless = 0; ;) {
      const attempt = await group.attempt()
      if ('outcomes' in attempt) {
        return parts.map(part => ({
          part, outcome: group.unkept.has(part) ? 'unkept' : group.later.has(part) ? 'later' : attempt.outcomes.get(part) ?? 'stored'
        }))
      }

      tools.meter.errors++
      const faults = 'misfit' in attempt ? await group.misfits() : group.named(attempt.refused) ?? await group.refusedRows(together)
      if (faults.length > 0) await group.bury(faults)
      // Nothing at fault by itself: next, rows that are refused only beside others. If there are none either, the database has changed its
      // mind.
      else if ('refused' in attempt && !together) together = true
      else fruitless = await retry.pause(group, Object.values(attempt)[0], fruitless)
    }
  } finally {
    retry.over(group)
  }
}

class Group {
  /** Those left out: their dead letters have no room. @type {Set<PendingBatch>} */
  unkept = new Set()
  /** Those whose tables are yet to be made. @type {Set<PendingBatch>} */
  later = new Set()
  #parts
  #tools

  /** @param {PendingBatch[]} parts @param {Tools} tools */
  constructor (parts, tools) {
    this.#parts = parts
    this.#tools = tools
  }

  /** @returns {Promise<Attempt>} */
  async attempt () {
    /** @type {Map<PendingBatch, 'duplicate'|'clash'>} */
    const outcomes = new Map()
    const wanted = this.#parts.filter(({ toWrite }) => toWrite)
    if (wanted.length === 0) return { outcomes }
    /** @type {Batch[]|void} */
    let lacking = []
    const misfit = await this.#tools.retry.refusal(this, async () => {
      lacking = await this.#tools.sink.prepare(wanted.map(batchOf), { forMs: PREPARE_MS })
    })
    if (misfit !== null) return { misfit }
    const isLacking = new Set(lacking)
    // Whoever takes it up again does not know its dead letters.
    this.later = new Set(wanted.filter(part => part.dead === 0 && isLacking.has(batchOf(part))))
    const parts = wanted.filter(part => !this.later.has(part))
    if (parts.length === 0) return { outcomes }
    const batches = parts.map(batchOf)
    const refused = await this.#tools.retry.refusal(this, async signal => {
      const { duplicates, clashes } = await this.#tools.sink.write(batches, { signal })
      for (const batch of duplicates) outcomes.set(parts[batches.indexOf(batch)], 'duplicate')
      for (const batch of clashes) outcomes.set(parts[batches.indexOf(batch)], 'clash')
    })
    return refused === null ? { outcomes } : { refused }
  }

  /** Those that are written now. */
  get #present () { return this.#parts.filter(part => !this.later.has(part)) }

  /** The rows of all batches that do not fit their table. @returns {Promise<Fault[]>} */
  async misfits () {
    const parts = this.#parts.filter(({ length }) => length > 0)
    const found = await isolate(parts.length, (from, to) => this.#prepare(parts.slice(from, to).map(part => part.select(0, part.length))))
    return [...found].flatMap(([i, error]) => parts[i].rows.map(row => ({ part: parts[i], row, error })))
  }

  /** The rows at fault, where the database itself has told them apart. @param {unknown} refused @returns {Fault[]|null} */
  named (refused) {
    if (!(refused instanceof RefusedRows)) return null
    return refused.faults.map(({ batch, row, error }) => {
      const part = this.#parts.find(({ toWrite }) => toWrite === batch)
      if (!part) throw refused
      return { part, row: part.rowAt(row), error }
    })
  }

  /** @param {boolean} together  whether to look for rows that are refused only beside those before them @returns {Promise<Fault[]>} */
  async refusedRows (together) {
    // What is refused without any row is not the rows' fault.
    if (await this.#probe(this.#present.map(part => part.select(0, 0))) !== null) return []
    const parts = this.#present.filter(({ length }) => length > 0)
    const starts = [0]
    for (const { length } of parts) starts.push(starts[starts.length - 1] + length)

    const found = await isolate(starts[parts.length], (from, to, before) => this.#probe(parts.flatMap((part, i) => {
      const first = Math.max((together ? 0 : from) - starts[i], 0)
      const end = Math.min(to - starts[i], part.length)
      return first < end ? part.select(first, end, row => before.has(starts[i] + row)) : []
    })))
    return [...found].map(([index, error]) => {
      const i = starts.findLastIndex(start => start <= index)
      return { part: parts[i], row: parts[i].rowAt(index - starts[i]), error }
    })
  }

  /** Makes dead letters of rows, and goes on only when the disk has them. @param {Fault[]} faults */
  async bury (faults) {
    const { deadLetters, retry, log } = this.#tools
    const letters = faults.map(({ part, row, error }) => deadLetter(part.batch, row, error))
    const stopped = await retry.run(this, () => deadLetters.append(letters), () => true)
    for (const [part, its] of Map.groupBy(faults, fault => fault.part)) {
      if (stopped.has(part.batch.source)) {
        this.unkept.add(part)
        continue
      }
      const dead = new Set(its.map(({ row }) => row))
      part.bury(row => dead.has(row))
    }
    this.#parts = this.#parts.filter(part => !this.unkept.has(part))
    for (const source of stopped) log.say('warn', `share ${source}`, describe(shareFull(source)))
    const kept = faults.filter(({ part }) => !this.unkept.has(part))
    if (kept.length === 0) return
    const reason = describe(kept[0].error)
    const as = kept.length === 1 ? 'a dead letter' : `${kept.length} dead letters`
    log.say('warn', reason, `Refused for good, kept as ${as}: ${reason}`)
  }

  /** @param {Batch[]} batches @returns {Promise<unknown>} */
  #prepare (batches) {
    return this.#tools.retry.refusal(this, () => this.#tools.sink.prepare(batches, { forMs: PREPARE_MS }))
  }

  /** @param {Batch[]} batches @returns {Promise<unknown>} */
  #probe (batches) {
    return this.#tools.retry.refusal(this, signal => this.#tools.sink.write(batches, { signal, probe: true }))
  }
}

/** @param {PendingBatch} part  that is to be written */
function batchOf ({ toWrite }) {
  return /** @type {Batch} */ (toWrite)
}
