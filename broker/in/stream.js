import { balanceOf, outcomeOf } from '../../gateway/stats/balance.js'
import { counterOf, markOf } from '../../gateway/batch/epochs.js'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { Stored } from './stored.js'

/**
 * @typedef {import('./head.js').HeadSource} HeadSource
 * @typedef {import('./head.js').HeadEpoch} HeadEpoch
 * @typedef {{epoch: string, first: number, last: number}} Missing  a range of batches
 * @typedef {HeadEpoch & {spool: string, isAll: boolean, gone: RangeSet, stagedAgain: RangeSet, cuts: Set<number>}} Epoch
 *   `gone`: lost or replaced; `cuts`: where a range begins that the spool tells from the one before
 *
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {{reading: unknown, balance: import('../../gateway/stats/balance.js').Balance}} KnownBalance
 */

/** Most epochs have no exceptions. */
const NONE = new RangeSet()

/**
 * What a consumer knows of one source: what its spools hold, what came, what each sink's database has stored; and so what is missing.
 */
export class Stream {
  /** @type {Map<string, HeadSource>} by spool: two of one gateway may stage one source */
  #spools = new Map()
  /** What the heads name. @type {Map<string, Epoch>} */
  #epochs = new Map()
  /** @type {Map<string, number>} epoch → the newest that came on `data` */
  #seen = new Map()
  /** @type {Map<string, Map<number, number>>} epoch → seq → rows */
  #parked = new Map()
  /** @type {Map<string, number>} sink → until when nothing is requested for it */
  #postponed = new Map()
  /** @type {Map<string, Stored>} by sink */
  #stored = new Map()
  /** What is held in this process: `epoch/seq`. @type {Set<string>} */
  #held = new Set()
  /** Of what is held and was staged again: `epoch/seq` → of its ancestors. @type {Map<string, string[]>} */
  #descended = new Map()
  /** `epoch/seq` of what came while its rows were held under another identity. @type {Set<string>} */
  #deferred = new Set()
  /** What was missing when that was last asked, unless something has changed since. @type {{key: string, ranges: Missing[]}|null} */
  #missing = null
  /** Of each sink, by what was read of it last: with that and with the heads they change. @type {Map<string, KnownBalance>} */
  #balances = new Map()
  /** Since the last head. @type {number|null} */
  #heldRows = null
  /** What each sink had lost when that was known last. @type {Map<string, number>} */
  #lost = new Map()
  /** It has sent all that its spools have: the broker brings nothing more. */
  isQuiet = false

  /** Nothing of it is missing, as far as is known, nor will be until then, unless something changes. */
  settledUntilMs = -Infinity

  /** @param {string} gateway @param {string} source @param {() => number} [nowMs]  monotonic */
  constructor (gateway, source, nowMs = () => performance.now()) {
    this.gateway = gateway
    this.source = source
    this.lastDataMs = nowMs()
  }

  get headKnown () { return this.#spools.size > 0 }

  /** @param {string} spool @returns {HeadSource|undefined} */
  headOf (spool) { return this.#spools.get(spool) }

  /**
   * A spool has said what it holds.
   * @param {string} spool
   * @param {HeadSource|null} head  null: nothing of this source any more
   * @param {boolean} [isAll]  false: what it does not name may be held all the same
   * @returns {boolean} whether something has left the spool that some sink is not known to have
   */
  setHead (spool, head, isAll = true) {
    this.#changed()
    this.#balances.clear()
    this.#heldRows = null
    const before = [...this.#epochs.values()].filter(epoch => epoch.spool === spool)
    for (const { epoch } of before) this.#epochs.delete(epoch)
    if (head) this.#spools.set(spool, head)
    else this.#spools.delete(spool)
    for (const epoch of head?.epochs ?? []) {
      const stagedAgain = setOf(epoch.replaced)
      const gone = epoch.lost.length > 0 ? setOf([...epoch.lost, ...epoch.replaced]) : stagedAgain
      const cuts = new Set([[epoch.first, epoch.last], ...epoch.lost, ...epoch.replaced].flatMap(([first, last]) => [first, last + 1]))
      this.#epochs.set(epoch.epoch, { ...epoch, spool, isAll, gone, stagedAgain, cuts })
    }
    for (const epoch of this.#seen.keys()) if (this.#isOver(epoch)) this.#seen.delete(epoch)
    return before.some(({ epoch, first, last, gone }) => {
      const end = Math.min(last, (this.#epochs.get(epoch)?.first ?? Infinity) - 1)
      return [...this.#stored.values()].some(stored => without(stored.missing(epoch, first, end), gone).length > 0)
    })
  }

  /**
   * A batch came on `data`, where a source's batches come in order.
   * @param {string} epoch
   * @param {number} seq
   * @returns {boolean} whether some before it, or of an earlier epoch, may not have come
   */
  observe (epoch, seq) {
    const before = this.#seen.get(epoch) ?? -1
    if (this.#isOver(epoch) || seq <= before) return false
    this.#seen.set(epoch, seq)
    this.isQuiet = false
    this.#changed()
    return before === -1 || seq > before + 1
  }

  /** @param {Pick<Identity, 'epoch'|'seq'|'ancestors'>} identity */
  hold ({ ancestors = [], ...identity }) {
    this.#held.add(keyOf(identity))
    if (ancestors.length > 0) this.#descended.set(keyOf(identity), ancestors.map(keyOf))
    this.#changed()
  }

  /** @param {Pick<Identity, 'epoch'|'seq'>} identity */
  release (identity) {
    this.#held.delete(keyOf(identity))
    this.#descended.delete(keyOf(identity))
    this.#deferred.clear()
    this.#changed()
  }

  /**
   * Whether the rows of a batch that came are held under another identity. It is not missing before some batch is no longer held.
   * @param {Pick<Identity, 'epoch'|'seq'|'ancestors'>} identity
   */
  defer ({ ancestors = [], ...identity }) {
    const key = keyOf(identity)
    const isHeld = ancestors.some(ancestor => this.#held.has(keyOf(ancestor))) ||
      [...this.#descended.values()].some(descendedFrom => descendedFrom.includes(key))
    if (isHeld) {
      this.#deferred.add(key)
      this.#changed()
    }
    return isHeld
  }

  /** Whether the spool has staged it again, under another identity. @param {string} epoch @param {number} seq */
  isReplaced (epoch, seq) { return this.#epochs.get(epoch)?.stagedAgain.has(seq) ?? false }

  /** @param {string} epoch @param {number} seq @param {number} rows */
  park (epoch, seq, rows) {
    this.#parked.set(epoch, (this.#parked.get(epoch) ?? new Map()).set(seq, rows))
    this.#changed()
  }

  /** @param {string} epoch @param {number} seq */
  isParked (epoch, seq) { return this.#parked.get(epoch)?.has(seq) ?? false }

  /** A sink can store nothing of the source for now. @param {string} sink @param {number} untilMs  monotonic */
  postpone (sink, untilMs) { this.#postponed.set(sink, untilMs) }

  /** Those of the sinks that nothing is postponed for. @param {string[]} sinks @param {number} nowMs  monotonic */
  takers (sinks, nowMs) { return sinks.filter(sink => !(nowMs < (this.#postponed.get(sink) ?? -Infinity))) }

  /** What is parked is tried again. */
  unpark () {
    this.#parked.clear()
    this.#changed()
  }

  /** What a sink's database has. @param {string} sink */
  storedBy (sink) {
    let stored = this.#stored.get(sink)
    if (!stored) this.#stored.set(sink, stored = new Stored(() => this.#changed()))
    return stored
  }

  /** The sink is gone. @param {string} sink */
  forget (sink) {
    this.#stored.delete(sink)
    this.#balances.delete(sink)
    this.#lost.delete(sink)
    this.#changed()
  }

  /** What was read of each epoch that the spools name: for `commit`. @param {string} sink @param {number} limit  ranges an epoch */
  runs (sink, limit) {
    const stored = this.storedBy(sink)
    return Object.fromEntries(Array.from(this.#epochs.values(), epoch => [epoch.epoch, stored.runs(epoch, limit)]))
  }

  /**
   * Ranges that some of the sinks lacks and a spool has, oldest first. What is below a batch that came was sent and did not arrive; what is
   * above the newest may be on its way, unless the source has gone quiet.
   * @param {string[]} sinks
   * @param {{quiet: boolean}} options
   * @returns {Missing[]} the same ones as before while nothing changes
   */
  missing (sinks, { quiet }) {
    const key = JSON.stringify([quiet, sinks])
    if (this.#missing?.key !== key) this.#missing = { key, ranges: this.#findMissing(sinks, quiet) }
    return this.#missing.ranges
  }

  /** @param {string[]} sinks @param {boolean} quiet @returns {Missing[]} */
  #findMissing (sinks, quiet) {
    const newestSeen = new Map()
    for (const [epoch, { spool }] of this.#epochs) {
      if (this.#seen.has(epoch)) newestSeen.set(spool, Math.max(newestSeen.get(spool) ?? -1, counterOf(epoch)))
    }
    return [...this.#epochs.values()]
      .filter(({ first, last }) => first <= last)
      .sort((a, b) => counterOf(a.epoch) - counterOf(b.epoch))
      .flatMap(({ epoch, spool, first, last, gone }) => {
        const isOver = quiet || counterOf(epoch) < (newestSeen.get(spool) ?? -1)
        const sentUpTo = isOver ? last : Math.min(last, (this.#seen.get(epoch) ?? -1) - 1)
        const missing = new RangeSet(sinks.flatMap(sink => this.storedBy(sink).missing(epoch, first, sentUpTo)))
        if (missing.ranges.length === 0) return []
        return without(missing.ranges, gone, this.#parkedOf(epoch), this.#heldOf(epoch))
          .map(([from, to]) => ({ epoch, first: from, last: to }))
      })
  }

  /** Rows that its spools hold. */
  get heldRows () { return this.#heldRows ??= balanceOf({ spools: [...this.#spools.values()], records: [] }).inFlight }

  /**
   * What no spool holds any more is lost once nothing of it can come: the broker may still bring it, or it has come and is to be stored.
   * @param {string} sink
   */
  balance (sink) {
    const balance = this.#recorded(sink)
    const known = this.#lost.get(sink) ?? 0
    if (balance.lost <= known || !this.#isComing) {
      this.#lost.set(sink, balance.lost)
      return balance
    }
    return { ...balance, lost: known, inFlight: balance.inFlight + balance.lost - known }
  }

  /** Whether something may come, or has come and is held, that the spools do not hold any more. A source's batches come in order. */
  get #isComing () {
    const isGone = (/** @type {string} */ key) => {
      const [epoch, seq] = key.split('/')
      return Number(seq) < (this.#epochs.get(epoch)?.first ?? Infinity)
    }
    if ([...this.#held].some(isGone)) return true
    const heads = [...this.#epochs.values()]
    const hasCome = (/** @type {string} */ spool) => {
      return heads.some(({ spool: its, epoch, first }) => its === spool && (this.#seen.get(epoch) ?? -1) >= first)
    }
    return !this.isQuiet && ![...this.#spools.keys()].every(hasCome)
  }

  /** @param {string} sink */
  #recorded (sink) {
    const { reading } = this.storedBy(sink)
    const known = this.#balances.get(sink)
    if (known?.reading === reading && this.#parked.size === 0) return known.balance
    const balance = this.#findBalance(sink)
    if (this.#parked.size === 0) this.#balances.set(sink, { reading, balance })
    return balance
  }

  /** @param {string} sink */
  #findBalance (sink) {
    const stored = this.storedBy(sink)
    const parked = [...this.#parked].flatMap(([epoch, seqs]) => {
      return Array.from(seqs, ([seq, rows]) => ({ epoch, seq, rows })).filter(({ seq }) => !stored.has(epoch, seq))
    })
    return balanceOf({ spools: [...this.#spools.values()], records: stored.records, parked })
  }

  /** By the marks of the spools. @param {string} sink @returns {Record<string, import('../local.js').Outcome>} */
  outcomes (sink) {
    const bySpool = Map.groupBy(this.storedBy(sink).records, ({ epoch }) => markOf(epoch))
    return Object.fromEntries(Array.from(bySpool, ([mark, records]) => [mark, outcomeOf(records)]))
  }

  /**
   * What the spools hold, or may hold, for compaction.
   * @returns {import('../../gateway/databases/sink.js').Head[]}
   */
  heads () {
    const { gateway, source } = this
    const recorded = new Map([...this.#stored.values()].flatMap(stored => stored.ends()).map(({ epoch, last }) => [epoch, last]))
    const unnamed = [...recorded].filter(([epoch]) => !this.#epochs.has(epoch))
    return [
      ...Array.from(this.#epochs.values(), ({ epoch, first, last }) => ({ gateway, source, epoch, first, last })),
      ...unnamed.map(([epoch, last]) => ({ gateway, source, epoch, first: this.#isOver(epoch) ? last + 1 : 0, last }))
    ]
  }

  #changed () {
    this.#missing = null
    this.settledUntilMs = -Infinity
  }

  /** Its spool names later ones, and this one no more. @param {string} epoch */
  #isOver (epoch) {
    return !this.#epochs.has(epoch) && [...this.#epochs.values()].some(other => {
      return other.isAll && markOf(other.epoch) === markOf(epoch) && counterOf(other.epoch) > counterOf(epoch)
    })
  }

  /** @param {string} epoch */
  #parkedOf (epoch) { return new RangeSet(Array.from(this.#parked.get(epoch)?.keys() ?? [], seq => [seq, seq])) }

  /** @param {string} epoch */
  #heldOf (epoch) {
    const held = new RangeSet()
    for (const key of [...this.#held, ...this.#deferred]) {
      const [heldEpoch, seq] = key.split('/')
      if (heldEpoch === epoch) held.add(Number(seq))
    }
    return held
  }
}

/** @param {[first: number, last: number, rows: number][]} ranges */
function setOf (ranges) {
  return ranges.length === 0 ? NONE : new RangeSet(ranges.map(([first, last]) => [first, last]))
}

/** @param {{epoch: string, seq: number}} identity */
function keyOf ({ epoch, seq }) { return `${epoch}/${seq}` }

/** @param {[number, number][]} ranges @param {RangeSet[]} others */
function without (ranges, ...others) {
  for (const other of others) ranges = ranges.flatMap(([first, last]) => other.missing(first, last))
  return ranges
}
