import { SluiceError } from '../../gateway/base/errors.js'
import { isName } from '../../gateway/batch/names.js'
import { Stream } from './stream.js'

/** @typedef {import('./stream.js').Mark} Mark */
/**
 * @typedef {[rows: number, lostBatches: number, lostRows: number, replacedRows: number, droppedBatches: number, droppedRows: number]}
 *   Totals
 * @typedef {{totals: Totals, newest: [epoch: string, seq: number, sum: number]|null}} Rest  what is kept of a source that holds nothing
 */

/** In use at once. */
const MAX_SOURCES = 1000
/** Of which nothing is held and only their totals are known. */
const MAX_RESTING = 10_000
const MAX_NAME_BYTES = 200

/** What was produced under one name, for the life of the spool. */
export class Source {
  /** Produced, over all epochs. */
  rows = 0
  /** Of them, those that an earlier run produced, or is known to have. */
  recoveredRows = 0
  lostBatches = 0
  lostRows = 0
  replacedRows = 0
  droppedBatches = 0
  droppedRows = 0
  /** The epoch that the next batch belongs to; null: it begins one. @type {Stream|null} */
  stream = null
  /** The newest epoch and those of which something is held, oldest first. @type {Map<string, Stream>} */
  streams = new Map()
  /** When it was last appended to, in turns. */
  usedAt = 0

  /** @param {string} name */
  constructor (name) {
    this.name = name
  }

  get isResting () {
    for (const { isEmpty } of this.streams.values()) if (!isEmpty) return false
    return true
  }

  /** @returns {Totals} */
  get totals () {
    return [this.rows, this.lostBatches, this.lostRows, this.replacedRows, this.droppedBatches, this.droppedRows]
  }

  set totals (totals) {
    [this.rows, this.lostBatches, this.lostRows, this.replacedRows, this.droppedBatches, this.droppedRows] = totals
  }

  /** After recovery, in whatever order they were found. */
  sort () {
    this.streams = new Map([...this.streams].sort(([a], [b]) => parseInt(a, 10) - parseInt(b, 10)))
    this.prune()
  }

  /** Forgets epochs of which nothing is held, but for the newest. */
  prune () {
    const newest = [...this.streams.keys()].at(-1)
    for (const [epoch, stream] of this.streams) if (stream.isEmpty && epoch !== newest) this.streams.delete(epoch)
  }
}

/**
 * All sources of a spool. Those of which something is held, and the newest others, are in memory with all that is known; a name that is
 * silent and has nothing here makes room for a new one, and only its totals are kept.
 */
export class Sources {
  /** @type {Map<string, Source>} */
  inUse = new Map()
  /** @type {Map<string, Rest>} */
  resting = new Map()
  /** Seqs of the present epoch were given to a name that is no longer known: it must not begin the same again. */
  hasForgotten = false
  /** Epochs that a name which comes back goes on with. @type {Set<string>} */
  current = new Set()
  /** Epochs begun since the spool was opened. @type {Set<string>} */
  begun = new Set()
  #turn = 0

  /** @param {string} gateway */
  constructor (gateway) {
    this.gateway = gateway
  }

  /** @param {string} name @returns {Source} for a batch of that name */
  use (name) {
    const source = this.inUse.get(name) ?? this.#admit(name)
    source.usedAt = ++this.#turn
    return source
  }

  get isFull () { return this.inUse.size >= MAX_SOURCES }

  /** One that is known. @param {string} name */
  get (name) { return this.inUse.get(name) }

  /** Whatever the limit: its records are there. @param {string} name */
  recover (name) {
    let source = this.inUse.get(name)
    if (!source) {
      source = this.#wake(name)
      this.inUse.set(name, source)
    }
    return source
  }

  /** Whether some stream has this number. @param {number} number */
  hasNumber (number) {
    for (const stream of this.streams()) if (stream.number === number) return true
    return false
  }

  * streams () {
    for (const { streams } of this.inUse.values()) yield * streams.values()
  }

  /** How many batches epochs have, of each source at least the newest one. @returns {Generator<[epoch: string, batches: number]>} */
  * lengths () {
    for (const { epoch, next } of this.streams()) yield [epoch, next.seq]
    for (const { newest } of this.resting.values()) if (newest) yield [newest[0], newest[1]]
  }

  /** Accepted of each name, each row counted once. @returns {Map<string, number>} */
  get rowsBySource () {
    const all = [...this.inUse, ...this.resting]
    return new Map(all.map(([name, { totals: [rows,,, replacedRows] }]) => [name, rows - replacedRows]))
  }

  /** What is counted for the life of the spool, of all sources. */
  get totals () {
    const sums = { lostBatches: 0, lostRows: 0, droppedBatches: 0, droppedRows: 0 }
    for (const { totals: [, lostBatches, lostRows,, droppedBatches, droppedRows] } of [...this.inUse.values(), ...this.resting.values()]) {
      sums.lostBatches += lostBatches
      sums.lostRows += lostRows
      sums.droppedBatches += droppedBatches
      sums.droppedRows += droppedRows
    }
    return sums
  }

  /** @param {string} name */
  #admit (name) {
    if (!isName(name)) {
      const shown = JSON.stringify(name.slice(0, 40))
      throw new SluiceError('SLUICE_SOURCE_NAME', `The source name ${shown} has NUL or half a surrogate pair.`, {
        fix: 'Use other characters: not every broker and database could give these back.'
      })
    }
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
      throw new SluiceError('SLUICE_SOURCE_NAME', `The source name "${name.slice(0, 40)}…" is too long.`, {
        fix: `Keep it under ${MAX_NAME_BYTES / 2} characters.`
      })
    }
    if (this.isFull && !this.#rest()) {
      const text = `More than ${MAX_SOURCES} sources have batches in the spool of one stage out; "${name}" is refused.`
      throw new SluiceError('SLUICE_SOURCE_COUNT', text, {
        fix: 'Put what varies into a field or tag, not into the source name.'
      })
    }
    const source = this.#wake(name)
    this.inUse.set(name, source)
    return source
  }

  /** Lays the longest silent source of which nothing is held to rest. False when there is none. */
  #rest () {
    /** @type {Source|undefined} */
    let oldest
    for (const source of this.inUse.values()) if (source.usedAt < (oldest?.usedAt ?? Infinity) && source.isResting) oldest = source
    if (!oldest) return false
    this.inUse.delete(oldest.name)
    this.resting.set(oldest.name, restOf(oldest))
    if (this.resting.size > MAX_RESTING) {
      for (const name of [...this.resting.keys()].slice(0, MAX_RESTING / 10)) this.resting.delete(name)
      this.hasForgotten = true
    }
    return true
  }

  /** @param {string} name */
  #wake (name) {
    const source = new Source(name)
    const rest = this.resting.get(name)
    if (!rest) return source
    this.resting.delete(name)
    source.totals = rest.totals
    source.recoveredRows = source.rows
    if (rest.newest && this.current.has(rest.newest[0])) {
      const [epoch, seq, sum] = rest.newest
      source.stream = new Stream(this.gateway, source, epoch, { seq, rows: source.rows, sum })
      source.streams.set(epoch, source.stream)
    }
    return source
  }
}

/** @param {Source} source @returns {Rest} */
export function restOf (source) {
  const { totals, stream } = source
  return { totals, newest: stream ? [stream.epoch, stream.end.seq, stream.end.sum] : null }
}
