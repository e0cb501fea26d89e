import { marker } from '../batch/batch.js'
import { Attempt } from './attempt.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('../batch/batch.js').Identity} Identity
 * @typedef {import('./attempt.js').Piece} Piece
 *
 * @typedef {object} SinkState
 * @property {'open'|'marking'|'finished'} state
 * @property {boolean} identified  the batch is stored with its commit record; otherwise a record of no rows will report it as done
 * @property {number} identifiedIn  the attempt of which the sink has the batch itself and has not stored it; 0: none
 * @property {Attempt[]} attempts  of which something has reached the sink, oldest first
 * @property {boolean} isPostponed  it has ended without being stored: the spool keeps it for the sink
 * @property {number} forgotten  of this attempt and those before nothing is known any more
 * @property {NodeJS.Timeout|undefined} quiet  runs while all that came is stored and more may come
 *
 * @typedef {object} FlowOptions  of the flow that a stage in feeds
 * @property {number} [quietMs]  rows that a flow has changed may still come so long after the last
 * @property {boolean} [settledByFlow]  the flow says with a settle node when it has sent all
 */

const MAX_ATTEMPTS = 16

/** Attempts are numbered through the process: those of one delivery count up, and none has the number of one before a deploy. */
let lastAttempt = 0

/**
 * A staged batch on its way through a flow: emitted by stage in, settled when each of the sinks listed has stored one attempt in full.
 * The message carries the delivery's id and the number of the attempt, as a string, which survives cloning.
 *
 * The batch itself is stored under its commit record, so it is known at once that it is finished. Rows that a flow has changed have none:
 * a sink stores what comes of one attempt, however late, and of no other unless some of that one got lost; and only when nothing more has
 * come for a while, or the flow has said so, a record of no rows ends the delivery.
 */
export class Delivery {
  /** How often it went into the flow since a sink last released something: that did reach it. */
  attempts = 0
  activeAtMs = 0
  #emissions = 0
  #attempt = 0

  /**
   * @param {import('../../broker/in/contract.js').DeliveryOptions & FlowOptions & {nowMs?: () => number}} options  `nowMs`: monotonic
   */
  constructor ({ id, batch, sinks, mark, onStored, onOpened, onFinished, onPostponed, quietMs = 2000, settledByFlow = false, nowMs }) {
    this.id = id
    this.batch = batch
    this.identity = /** @type {Identity} */ (batch.identity)
    this.sinks = new Map(sinks.map(name => [name, freshState()]))
    this.options = { mark, onStored, onOpened, onFinished, onPostponed, quietMs, settledByFlow, nowMs: nowMs ?? (() => performance.now()) }
  }

  /** What a message carries: `<id>#<attempt>`. */
  get attemptId () { return `${this.id}#${this.#attempt}` }

  get finished () { return this.#every(({ state }) => state === 'finished') }

  /** No sink has anything of it to store or waits for more, yet it is not finished. */
  get idle () { return this.#every(state => state.state === 'finished' || isIdle(state)) }

  /** Some sink is not finished, and only another attempt can bring what it lacks. */
  get waiting () { return !this.#every(state => !isIdle(state) || hasIntact(state)) }

  /** Something of it may come that no commit record tells to be stored. */
  get isUnrecorded () { return this.#emissions > 1 || !this.#every(({ identified }) => identified) }

  /** It goes into the flow, perhaps again. */
  begin () {
    this.attempts++
    this.#emissions++
    this.#attempt = ++lastAttempt
    this.activeAtMs = this.options.nowMs()
  }

  /**
   * A sink has received a piece of an attempt. False when there is nothing to store: the sink has or had that same piece, or stores another
   * attempt.
   * @param {string} sink
   * @param {number} number
   * @param {Piece} piece
   */
  accept (sink, number, piece) {
    const state = this.sinks.get(sink)
    if (!state) return true
    this.activeAtMs = this.options.nowMs()
    const attempt = attemptOf(state, number) ?? join(state, number)
    if (!attempt) return true
    if (attempt.isRefused) return false
    if (piece.identified) {
      if (state.identified || state.state === 'finished') {
        this.#review(sink, state)
        return false
      }
      if (state.identifiedIn !== 0) {
        attempt.isBroken ||= state.identifiedIn !== number // that one may yet be released
        return false
      }
    }
    if (!attempt.take(piece)) return false
    if (piece.identified) state.identifiedIn = number
    hush(state)
    return true
  }

  /**
   * The sink has stored an accepted piece, or it was dropped on purpose.
   * @param {string} sink
   * @param {number} number
   * @param {Piece} piece
   */
  settle (sink, number, piece) {
    const state = this.sinks.get(sink)
    const attempt = state && attemptOf(state, number)
    if (!attempt) return
    this.activeAtMs = this.options.nowMs()
    attempt.store(piece)
    if (piece.identified) {
      state.identified = true
      state.identifiedIn = 0
    }
    this.#review(sink, state)
  }

  /**
   * The sink could not store an accepted piece and releases it.
   * @param {string} sink
   * @param {number} number
   * @param {Piece} piece
   * @returns {boolean} whether it comes again
   */
  release (sink, number, piece) {
    const state = this.sinks.get(sink)
    if (!state || state.state !== 'open') return false
    this.attempts = 0
    attemptOf(state, number)?.release(piece)
    if (piece.identified) state.identifiedIn = 0
    this.#review(sink, state)
    return true
  }

  /**
   * The sink can store nothing of it for now, and lets it go: the spool keeps it.
   * @param {string} sink
   * @returns {boolean} false where the sink has some of it already: it has to wait for the rest
   */
  postpone (sink) {
    const state = this.sinks.get(sink)
    if (!state || state.isPostponed) return state !== undefined
    if (state.state !== 'open' || state.attempts.some(({ held, hasStored }) => held > 0 || hasStored)) return false
    for (const attempt of state.attempts) attempt.isRefused = true
    state.isPostponed = true
    state.state = 'finished'
    this.options.onPostponed?.(sink)
    return true
  }

  /**
   * The flow drops it, or a part of it, on purpose; or says so that it has sent all.
   * @param {number} number
   * @param {Piece['part']} part
   */
  drop (number, part) {
    const piece = { identified: false, part }
    for (const [sink, state] of this.sinks) {
      if (!this.accept(sink, number, piece)) continue
      const attempt = attemptOf(state, number)
      if (attempt) attempt.isSettled = true
      this.settle(sink, number, piece)
    }
  }

  /**
   * What the flow has under way may be lost: for a sink that stops, or for all of them. What it makes of another attempt is stored.
   * @param {string} [sink]
   */
  doubt (sink) {
    for (const [name, state] of this.sinks) {
      if (state.state !== 'open' || (sink !== undefined && name !== sink)) continue
      hush(state)
      for (const attempt of state.attempts) attempt.isBroken ||= attempt.isChanged
    }
  }

  /**
   * The sink's database has lost what it had stored. Of changed rows no record tells whether they are among it: the delivery goes into the
   * flow again, and they may be stored twice. Where the record of no rows is under way, `mark` tells that it was not left.
   * @param {string} sink
   */
  setBack (sink) {
    const state = this.sinks.get(sink)
    if (state?.state === 'open') this.#open(state)
  }

  /** The sink's database has its commit record. @param {string} sink */
  recorded (sink) {
    const state = this.sinks.get(sink)
    if (!state || state.state === 'finished') return
    hush(state)
    state.state = 'finished'
    this.options.onFinished(sink)
  }

  /** Nothing is waited for any more. */
  close () {
    for (const state of this.sinks.values()) hush(state)
  }

  /** @param {string} sink @param {SinkState} state */
  #review (sink, state) {
    if (state.state !== 'open') return
    hush(state)
    const { quietMs, settledByFlow, onStored } = this.options
    const stored = state.attempts.find(({ isStored }) => isStored)
    if (!stored) return
    if (state.identified || (settledByFlow && stored.isSettled)) {
      this.#finish(sink, state)
    } else if (!settledByFlow) {
      state.quiet = setTimeout(() => this.#finish(sink, state), quietMs)
      if (this.#every(other => other.state !== 'open' || other.quiet !== undefined)) onStored?.()
    }
  }

  /** @param {string} sink @param {SinkState} state */
  async #finish (sink, state) {
    state.quiet = undefined
    if (!state.identified) {
      state.state = 'marking'
      const isMarked = await this.options.mark(sink, marker(this.identity))
      if (isMarked === false && state.state === 'marking') return this.#open(state)
    }
    this.recorded(sink)
  }

  /** What was stored of changed rows is lost. @param {SinkState} state */
  #open (state) {
    const lost = state.attempts.filter(({ isChanged, hasStored, isRefused }) => isChanged && hasStored && !isRefused)
    if (lost.length === 0) return
    hush(state)
    for (const attempt of lost) attempt.isBroken = true
    state.state = 'open'
    state.identified = false
    this.attempts = 0
    this.options.onOpened?.()
  }

  /** @param {(state: SinkState) => boolean} isSo */
  #every (isSo) {
    for (const state of this.sinks.values()) if (!isSo(state)) return false
    return true
  }
}

/** @returns {SinkState} */
function freshState () {
  return { state: 'open', identified: false, identifiedIn: 0, isPostponed: false, attempts: [], forgotten: lastAttempt, quiet: undefined }
}

/**
 * The first piece of an attempt has reached a sink.
 * @param {SinkState} state
 * @param {number} number
 * @returns {Attempt|null} null of one that is forgotten: what comes of it late is stored
 */
function join (state, number) {
  const isRefused = state.state !== 'open' || hasIntact(state)
  if (!isRefused && !(number > state.forgotten)) return null
  const attempt = new Attempt(number, isRefused)
  state.attempts.push(attempt)
  if (state.attempts.length > MAX_ATTEMPTS) forgetOne(state)
  return attempt
}

/** The oldest that does not matter any more. @param {SinkState} state */
function forgetOne (state) {
  const at = state.attempts.findIndex(({ isIntact, held }) => !isIntact && held === 0)
  if (at >= 0) state.forgotten = Math.max(state.forgotten, ...state.attempts.splice(at, 1).map(({ number }) => number))
}

/** @param {SinkState} state */
function hasIntact ({ attempts }) {
  return attempts.some(({ isIntact }) => isIntact)
}

/** @param {SinkState} state @param {number} number */
function attemptOf ({ attempts }, number) {
  return attempts.find(attempt => attempt.number === number)
}

/** @param {SinkState} state */
function isIdle ({ state, quiet, attempts }) {
  return state === 'open' && quiet === undefined && attempts.every(({ held }) => held === 0)
}

/** Something has come, or will not: the quiet time is not over. @param {SinkState} state */
function hush (state) {
  if (state.quiet === undefined) return
  clearTimeout(state.quiet)
  state.quiet = undefined
}
