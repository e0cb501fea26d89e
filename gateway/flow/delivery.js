import { marker } from '../batch/batch.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('../batch/batch.js').Identity} Identity
 *
 * @typedef {object} Piece  what of a delivery reached a sink
 * @property {boolean} identified  the batch as it was staged; false: something a flow made of it
 * @property {{id: string, index: number, count: number}|null} [part]  of a split message (Node-RED's `msg.parts`)
 *
 * @typedef {object} SinkState
 * @property {'open'|'marking'|'finished'} state
 * @property {number} held  pieces the sink has and has not stored
 * @property {boolean} released  it released a piece that only another emission can bring back
 * @property {boolean} identifiedHeld
 * @property {boolean} identified  the batch is stored with its commit record; otherwise a record of no rows will report it as done
 * @property {Map<string, {count: number, held: Set<number>, done: Set<number>}>} parts  by the split's id
 */

/**
 * A staged batch on its way through a flow: emitted by stage in, settled when each of the sinks listed has stored all that reached it.
 * The message carries only the delivery's id, a string, which survives cloning.
 */
export class Delivery {
  /** How often it went into the flow since a sink last released something: that did reach it. */
  attempts = 0
  activeAtMs = 0

  /**
   * @param {import('../../broker/in/contract.js').DeliveryOptions & {nowMs?: () => number}} options  `nowMs`: monotonic
   */
  constructor ({ id, batch, sinks, mark, onFinished, nowMs = () => performance.now() }) {
    this.id = id
    this.batch = batch
    this.identity = /** @type {Identity} */ (batch.identity)
    this.sinks = new Map(sinks.map(name => [name, freshState()]))
    this.actions = { mark, onFinished, nowMs }
  }

  get finished () { return [...this.sinks.values()].every(({ state }) => state === 'finished') }

  /** No sink has anything of it to store, yet it is not finished. */
  get idle () { return [...this.sinks.values()].every(({ state, held }) => state === 'finished' || (state === 'open' && held === 0)) }

  /** Some sink is not finished, and has nothing of it to store. */
  get waiting () { return [...this.sinks.values()].some(({ state, held }) => state === 'open' && held === 0) }

  /** It goes into the flow, perhaps again: then what is split is split again, under another id. */
  begin () {
    this.attempts++
    this.activeAtMs = this.actions.nowMs()
    for (const state of this.sinks.values()) {
      if (state.state !== 'open' || state.held > 0) continue
      state.released = false
      state.parts.clear()
    }
  }

  /**
   * A sink has received a piece. False when it has or had that same piece already: then there is nothing to store.
   * @param {string} sink
   * @param {Piece} piece
   */
  accept (sink, { identified, part }) {
    const state = this.sinks.get(sink)
    if (!state) return true
    this.activeAtMs = this.actions.nowMs()
    if (identified && (state.state === 'finished' || state.identifiedHeld || state.identified)) return false
    if (part) {
      const group = state.parts.get(part.id) ?? { count: part.count, held: new Set(), done: new Set() }
      if (state.state === 'finished' || group.held.has(part.index) || group.done.has(part.index)) return false
      group.held.add(part.index)
      state.parts.set(part.id, group)
    }
    state.identifiedHeld ||= identified
    state.held++
    return true
  }

  /**
   * The sink has stored an accepted piece, or it was dropped on purpose.
   * @param {string} sink
   * @param {Piece} piece
   */
  settle (sink, { identified, part }) {
    const state = this.sinks.get(sink)
    if (!state) return
    this.activeAtMs = this.actions.nowMs()
    state.held = Math.max(0, state.held - 1)
    if (identified) {
      state.identified = true
      state.identifiedHeld = false
    }
    const group = part && state.parts.get(part.id)
    if (group && part) {
      group.held.delete(part.index)
      group.done.add(part.index)
    }
    const isComplete = [...state.parts.values()].every(({ count, done }) => done.size === count)
    if (state.state === 'open' && state.held === 0 && !state.released && isComplete) this.#finish(sink, state)
  }

  /**
   * The sink could not store an accepted piece and releases it.
   * @param {string} sink
   * @param {Piece} piece
   */
  release (sink, { identified, part }) {
    const state = this.sinks.get(sink)
    if (!state) return
    this.attempts = 0
    state.held = Math.max(0, state.held - 1)
    if (identified) state.identifiedHeld = false
    else state.released = true
    if (part) state.parts.get(part.id)?.held.delete(part.index)
  }

  /** The sink's database has its commit record. @param {string} sink */
  recorded (sink) {
    const state = this.sinks.get(sink)
    if (!state || state.state === 'finished') return
    state.state = 'finished'
    this.actions.onFinished(sink)
  }

  /** @param {string} sink @param {SinkState} state */
  async #finish (sink, state) {
    if (!state.identified) {
      state.state = 'marking'
      await this.actions.mark(sink, marker(this.identity))
    }
    this.recorded(sink)
  }
}

/** @returns {SinkState} */
function freshState () {
  return { state: 'open', held: 0, released: false, identifiedHeld: false, identified: false, parts: new Map() }
}
