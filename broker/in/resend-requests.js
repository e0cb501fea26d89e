import { backoff } from '../../gateway/base/backoff.js'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { MAX_CONTROL_RANGES } from '../control-messages.js'
import { shared, sumOf } from './shares.js'

/** On average 1 s at first and 30 s at last, a quarter more or less. */
const BACKOFF_MS = { first: 1250, max: 37_500, jitter: 0.4 }
/** What is requested, or has begun to come, is expected for so long. */
const PATIENCE_MS = 1000
/** A batch that has not come after so many requests, while others came, is not delivered by the broker. */
const MAX_VAIN = 3
/** Named in one request, of one epoch. */
const MAX_UNDELIVERED = 100
/** @type {Request[]} */
const NONE = []

/**
 * @typedef {import('../control-messages.js').Resend} Resend
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {import('./stream.js').Missing} Missing
 *
 * @typedef {object} Asked
 * @property {number} attempt  how often it was requested before
 * @property {number} vain  how often of those other batches came instead
 * @property {boolean} isUnanswered  when it was requested before, nothing came at all
 * @property {number} askedMs
 * @property {number} comingMs  when it was requested, or last some of it came
 * @property {number} untilMs  it is given time
 * @typedef {Missing & Asked} Request
 *
 * @typedef {{missing: Missing[], before: Request[], unasked: Missing[]}} Lacking  `before`: of what is missing, what was requested
 *
 * @typedef {object} Plan  what could be requested of a stream
 * @property {object} stream
 * @property {Request[]} before  what was, and has not come
 * @property {Request[]} due  of that, again
 * @property {Missing[]} unasked  all else that is missing
 * @property {number} cameMs  when its gateway last sent something again
 * @property {boolean} isSilent  the gateway answers nothing
 *
 * @typedef {{epochs: Record<string, [number, number][]>, undelivered: Record<string, number[]>, count: number}} Wanted
 */

/**
 * When to ask a spool to resend what is missing: each range has time to come, longer each time that nothing of it does, and holds up no
 * other meanwhile.
 */
export class ResendRequests {
  /** @type {Map<object, Request[]>} by stream */
  #requests = new Map()
  /** When something that was resent came, by gateway. @type {Map<string, number>} */
  #cameMs = new Map()
  /** As it was found last. @type {WeakMap<object, Lacking>} */
  #lacked = new WeakMap()
  /** When each stream and gateway was last asked, counted in requests. @type {Map<object|string, number>} */
  #turns = new Map()
  #turn = 0

  /** @param {() => number} [nowMs]  monotonic */
  constructor (nowMs = () => performance.now()) {
    this.nowMs = nowMs
  }

  get isEmpty () { return this.#requests.size === 0 }

  /** How many batches are expected now. */
  get expected () {
    return [...this.#requests.values()].reduce((sum, requests) => sum + expectedOf(requests, this.nowMs()), 0)
  }

  /** Something that was resent has come. @param {string} gateway */
  came (gateway) { this.#cameMs.set(gateway, this.nowMs()) }

  /** A batch found no room: it is requested again as soon as there is. @param {object} stream @param {string} epoch @param {number} seq */
  overflowed (stream, epoch, seq) {
    const requests = this.#requests.get(stream)
    const hit = requests?.find(request => request.epoch === epoch && request.first <= seq && seq <= request.last)
    if (!requests || !hit) return
    const parts = [{ ...hit, last: seq - 1 }, { ...hit, first: seq + 1 }].filter(({ first, last }) => first <= last)
    this.#requests.set(stream, requests.toSpliced(requests.indexOf(hit), 1, ...parts))
  }

  /**
   * @param {{gateway: string}} stream
   * @param {Missing[]} missing  now, oldest first
   * @param {number} room  for so many batches
   * @returns {Wanted|null} what to request now
   */
  next (stream, missing, room) { return this.#ask(this.#plan(stream, missing), room) }

  /**
   * What to request of each gateway now, in one message, and no more in all than there is room for. Each gateway has as much of the room as
   * any other, and each of its streams likewise: one that lacks ever more, or never sends what it says it has, holds up no other.
   * @param {[Stream, Missing[]][]} missing
   * @param {number} room
   * @returns {Map<string, Resend>}
   */
  all (missing, room) {
    const plans = missing.map(([stream, ranges]) => this.#plan(stream, ranges)).filter(({ expected, wish }) => expected + wish > 0)
    const gateways = Array.from(Map.groupBy(plans, ({ stream }) => stream.gateway), ([gateway, its]) => {
      return { gateway, its, ...sumOf(its), turn: this.#turns.get(gateway) ?? 0 }
    })
    /** @type {Map<string, Resend>} */
    const requests = new Map()
    for (const [{ gateway, its, expected }, more] of shared(gateways, room)) {
      for (const [plan, part] of shared(its, expected + more)) {
        const wanted = this.#ask(plan, part)
        if (!wanted) continue
        const { stream, stream: { source } } = plan
        for (const asked of [stream, gateway]) this.#turns.set(asked, ++this.#turn)
        const request = requests.get(gateway) ?? { sources: Object.create(null), undelivered: Object.create(null) }
        requests.set(gateway, request)
        request.sources[source] = wanted.epochs
        if (Object.keys(wanted.undelivered).length > 0) request.undelivered[source] = wanted.undelivered
      }
    }
    return requests
  }

  /** A new connection: the last requests may never have arrived. */
  clear () { this.#requests.clear() }

  /**
   * What could be requested of a stream now.
   * @template {{gateway: string}} S
   * @param {S} stream
   * @param {Missing[]} missing
   */
  #plan (stream, missing) {
    const now = this.nowMs()
    const { before, unasked } = this.#lacking(stream, missing)
    const due = before.filter(({ untilMs }) => untilMs <= now)
    const cameMs = this.#cameMs.get(stream.gateway) ?? -Infinity
    const isSilent = before.some(({ isUnanswered, askedMs }) => isUnanswered && cameMs < askedMs)
    const wish = isSilent ? Math.min(1, due.length) : countOf(due) + countOf(unasked)
    return { stream, before, due, unasked, cameMs, isSilent, wish, expected: expectedOf(before, now), turn: this.#turns.get(stream) ?? 0 }
  }

  /** @param {Plan} plan @param {number} room @returns {Wanted|null} */
  #ask ({ stream, before, due, unasked, cameMs, isSilent }, room) {
    if (room <= 0) return null
    const now = this.nowMs()
    const roomAgain = isSilent ? 1 : Math.max(Math.ceil(room / 2), room - countOf(unasked))
    const again = take(due, roomAgain).map(request => ({
      ...request,
      attempt: request.attempt + 1,
      vain: request.vain + (cameMs > request.askedMs ? 1 : 0),
      isUnanswered: cameMs < request.askedMs
    }))
    const taken = isSilent ? [] : take(unasked, room - countOf(again))
    const fresh = taken.map(range => ({ ...range, attempt: 0, vain: 0, isUnanswered: false }))
    const asked = [...again, ...fresh].map(request => ({
      ...request, askedMs: now, comingMs: now, untilMs: now + backoff(request.attempt, BACKOFF_MS)
    }))
    const rest = subtract(due, again).map(range => {
      return { .../** @type {Request} */ (due.find(request => isWithin(range, request))), ...range }
    })
    const waiting = before.filter(({ untilMs }) => untilMs > now)
    if (asked.length === 0) return null
    this.#requests.set(stream, [...waiting, ...rest, ...asked])
    // A gateway may only have lost what it is asked for: it is asked, too, for the newest, which it is likeliest to have.
    const probe = isSilent ? unasked.slice(-1).map(({ epoch, last }) => ({ epoch, first: last, last, vain: 0 })) : []
    return wantedOf([...asked, ...probe])
  }

  /**
   * What has not come of what was requested, and what was not requested: found again only where something has changed.
   * @param {object} stream
   * @param {Missing[]} missing
   * @returns {Lacking}
   */
  #lacking (stream, missing) {
    const known = this.#lacked.get(stream)
    const requests = this.#requests.get(stream) ?? NONE
    if (known?.missing === missing && known.before === requests) return known
    const remaining = this.#remaining(requests, missing)
    const before = remaining.length > 0 ? remaining : NONE
    if (before === NONE) this.#requests.delete(stream)
    else this.#requests.set(stream, before)
    const lacking = { missing, before, unasked: subtract(missing, before) }
    this.#lacked.set(stream, lacking)
    return lacking
  }

  /**
   * What of the requests has not come; of one of which something has, more is to be expected.
   * @param {Request[]} requests
   * @param {Missing[]} missing
   */
  #remaining (requests, missing) {
    const now = this.nowMs()
    const sets = setsOf(missing)
    return requests.flatMap(request => {
      const ranges = within(sets.get(request.epoch), request)
      const left = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0)
      const isComing = left <= request.last - request.first
      const untilMs = Math.max(request.untilMs, now + PATIENCE_MS)
      const news = isComing ? { attempt: 0, vain: 0, isUnanswered: false, comingMs: now, untilMs } : {}
      return ranges.map(([first, last]) => ({ ...request, ...news, first, last }))
    })
  }
}

/** @param {(Missing & Pick<Request, 'vain'>)[]} requests @returns {Wanted} */
function wantedOf (requests) {
  const undelivered = requests.filter(({ vain }) => vain >= MAX_VAIN)
  return {
    count: countOf(requests),
    epochs: Object.fromEntries([...setsOf(requests)].map(([epoch, { ranges }]) => [epoch, ranges.slice(0, MAX_CONTROL_RANGES)])),
    undelivered: Object.fromEntries([...setsOf(undelivered)].map(([epoch, { ranges }]) => [epoch, firstOf(ranges)]))
  }
}

/** The oldest batches of some ranges. @param {[number, number][]} ranges */
function firstOf (ranges) {
  const seqs = []
  for (const [first, last] of ranges) for (let seq = first; seq <= last && seqs.length < MAX_UNDELIVERED; seq++) seqs.push(seq)
  return seqs
}

/**
 * As much of some ranges as is within a number of batches.
 * @template {Missing} T
 * @param {T[]} ranges
 * @param {number} room
 * @returns {T[]}
 */
function take (ranges, room) {
  const taken = []
  for (const range of ranges) {
    if (room <= 0) break
    const last = Math.min(range.last, range.first + room - 1)
    room -= last - range.first + 1
    taken.push({ ...range, last })
  }
  return taken
}

/** @param {Missing[]} ranges @param {Missing[]} others */
function subtract (ranges, others) {
  const sets = setsOf(others)
  return ranges.flatMap(({ epoch, first, last }) => {
    return (sets.get(epoch)?.missing(first, last) ?? [[first, last]]).map(([from, to]) => ({ epoch, first: from, last: to }))
  })
}

/** @param {Missing} range @param {Missing} other */
function isWithin (range, other) {
  return range.epoch === other.epoch && range.first >= other.first && range.last <= other.last
}

/** The parts of a range that are in a set. @param {RangeSet|undefined} set @param {Missing} range @returns {[number, number][]} */
function within (set, { first, last }) {
  const gaps = set?.missing(first, last) ?? [[first, last]]
  return new RangeSet(/** @type {[number, number][]} */ (gaps)).missing(first, last)
}

/** @param {Missing[]} ranges @returns {Map<string, RangeSet>} */
function setsOf (ranges) {
  /** @type {Map<string, RangeSet>} */
  const sets = new Map()
  for (const { epoch, first, last } of ranges) {
    const set = sets.get(epoch) ?? new RangeSet()
    set.add(first, last)
    sets.set(epoch, set)
  }
  return sets
}

/** @param {Missing[]} ranges */
function countOf (ranges) {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0)
}

/** How many batches are expected now. @param {Request[]} requests @param {number} now */
function expectedOf (requests, now) {
  return countOf(requests.filter(({ comingMs }) => now - comingMs < PATIENCE_MS))
}
