import { Batch, identityKey } from '../../gateway/batch/batch.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { createWriter } from '../../gateway/writer/writer.js'

/** @typedef {import('../../gateway/databases/sink.js').Sink} Sink */

export class TransientError extends Error {}
export class RefusedError extends Error {}

/** @param {unknown} error */
export const isTransient = error => error instanceof TransientError

/**
 * A sink in memory that keeps the contract: a transaction stores all its rows and commit records, or nothing.
 * @implements {Sink}
 */
export class FakeSink {
  /** @type {number[]} the values stored, in the order of their commits */
  stored = []
  /** commit records: hashes by identity @type {Map<string, number|undefined>} */
  commits = new Map()
  /** @type {Batch[][]} each transaction that was committed */
  transactions = []
  probes = 0
  writes = 0
  active = 0
  mostActive = 0

  /** A table that takes no value twice. */
  isUnique = false
  /** @type {(value: number) => boolean} */
  isPoison = () => false
  /** @type {(batch: Batch) => boolean} */
  isMisfit = () => false
  /** Whose tables are yet to be prepared. @type {(batch: Batch) => boolean} */
  isLacking = () => false
  /**
   * Called before each step, to throw or to wait.
   * @type {(step: 'prepare'|'write'|'probe'|'commit', batches: Batch[], signal?: AbortSignal) => void|Promise<void>}
   */
  onStep = () => {}
  /** Called after a commit: what it throws is what the writer learns of it. @type {() => void|Promise<void>} */
  afterCommit = () => {}

  /** @param {Batch[]} batches @param {{forMs?: number}} [options] */
  async prepare (batches, { forMs = Infinity } = {}) {
    await this.onStep('prepare', batches)
    for (const batch of batches) {
      if (this.isMisfit(batch)) throw new RefusedError(`${batch.source} does not fit`)
    }
    while (forMs === Infinity && batches.some(this.isLacking)) await settle()
    return batches.filter(this.isLacking)
  }

  async committed () { return { store: 'fake', records: [] } }

  async compact () {}

  async close () {}

  /** @param {Batch[]} batches @param {{signal?: AbortSignal, probe?: boolean}} [options] */
  async write (batches, { signal, probe = false } = {}) {
    if (probe) this.probes++
    else this.writes++
    this.mostActive = Math.max(this.mostActive, ++this.active)
    try {
      await this.onStep(probe ? 'probe' : 'write', batches, signal)
      signal?.throwIfAborted()
      const hashes = new Map(this.commits)
      const verdictOf = (/** @type {Batch} */ { identity }) => {
        const key = identity && identityKey(identity)
        if (key !== null && hashes.has(key)) return hashes.get(key) === identity?.hash ? 'duplicates' : 'clashes'
        if (key !== null && !probe) hashes.set(key, identity?.hash)
        return 'fresh'
      }
      const { fresh = [], duplicates = [], clashes = [] } = Object.groupBy(batches, verdictOf)
      const values = fresh.flatMap(valuesOf)
      this.#check(values)
      if (probe) return { duplicates, clashes }
      await this.onStep('commit', batches, signal)
      this.stored.push(...values)
      this.transactions.push(fresh)
      for (const { identity } of fresh) if (identity) this.commits.set(identityKey(identity), identity.hash)
      await this.afterCommit()
      return { duplicates, clashes }
    } finally {
      this.active--
    }
  }

  /** @param {number[]} values */
  #check (values) {
    const bad = values.find(this.isPoison)
    if (bad !== undefined) throw new RefusedError(`${bad} is not allowed`)
    const isRepeated = new Set([...this.stored, ...values]).size < this.stored.length + values.length
    if (this.isUnique && isRepeated) throw new RefusedError('twice the same')
  }
}

/**
 * @param {number[]} values
 * @param {number|null} [seq]  null for a batch without identity
 * @param {string} [source]
 */
export function batchOf (values, seq = null, source = 'press') {
  return new Batch({
    source,
    time: BigInt64Array.from(values, (_, i) => 1_700_000_000_000_000_000n + BigInt(i)),
    fields: values.length > 0 ? [{ name: 'force', type: 'float64', unit: 'N' }] : [],
    columns: values.length > 0 ? [Float64Array.from(values)] : [],
    identity: seq === null ? null : { gateway: 'gw', source, epoch: '1-a', seq }
  })
}

/** @param {Batch} batch */
export function valuesOf (batch) {
  return batch.columns.length > 0 ? [.../** @type {Float64Array} */ (batch.columns[0])] : []
}

/** @param {number} from @param {number} to */
export function range (from, to) {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

/**
 * No wait takes longer than a millisecond: pauses between attempts, ages, deadlines.
 * @type {import('../../gateway/writer/retry.js').Clock}
 */
export const impatientClock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, Math.min(ms, 1)),
  clearTimeout
}

/** Time that passes only when told. */
export class ManualClock {
  #nowMs = 0
  /** @type {Map<number, {dueMs: number, callback: () => void}>} */
  timers = new Map()
  #lastId = 0
  /** How many timers were ever set. */
  get count () { return this.#lastId }

  now = () => this.#nowMs

  /** @param {() => void} callback @param {number} ms */
  setTimeout = (callback, ms) => {
    this.timers.set(++this.#lastId, { dueMs: this.#nowMs + ms, callback })
    return this.#lastId
  }

  /** @param {number} id */
  clearTimeout = id => { this.timers.delete(id) }

  /** Lets time pass, and what follows from it happen. @param {number} ms */
  async pass (ms) {
    const endMs = this.#nowMs + ms
    for (;;) {
      await settle()
      const next = [...this.timers].sort(([, a], [, b]) => a.dueMs - b.dueMs)[0]
      if (!next || next[1].dueMs > endMs) break
      this.timers.delete(next[0])
      this.#nowMs = next[1].dueMs
      next[1].callback()
    }
    this.#nowMs = endMs
    await settle()
  }
}

/** Lets what is ready happen: promises, and files that are being written. */
export async function settle () {
  for (let i = 0; i < 20; i++) await new Promise(resolve => setImmediate(resolve))
}

/** What a writer counts. */
export class FakeMeter {
  duplicates = 0
  deadLetters = 0
  retries = 0
  errors = 0
  rows = 0
  bytes = 0
  /** @type {[outcome: string, microseconds: number][]} */
  writes = []

  /** @param {Batch} batch @param {{bytes: number}} size */
  record (batch, { bytes }) {
    this.rows += batch.rows
    this.bytes += bytes
  }

  /** The clock's differences have no more digits than a float64. @param {string} outcome @param {number} microseconds */
  recordWrite (outcome, microseconds) { this.writes.push([outcome, Math.round(microseconds)]) }
}

/** @param {string} folder @param {Partial<import('../../gateway/writer/writer.js').Setup>} [setup] */
export async function openWriter (folder, setup = {}) {
  const sink = /** @type {FakeSink} */ (setup.sink ?? new FakeSink())
  const deadLetters = setup.deadLetters ?? await openDeadLetterQueue(folder)
  const meter = new FakeMeter()
  /** @type {string[]} */
  const said = []
  const say = (/** @type {string} */ text) => { said.push(text) }
  const log = { info: say, warn: say, error: say }
  const writer = createWriter({ isTransient, meter, log, ...setup, sink, deadLetters })
  return { writer, sink, deadLetters, meter, said }
}
