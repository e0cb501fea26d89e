/**
 * @typedef {import('./contract.js').Delivery} Delivery
 * @typedef {import('./stream.js').Stream} Stream
 *
 * @typedef {object} Held  a delivery and what acknowledges it
 * @property {Delivery} delivery
 * @property {Stream} stream
 * @property {number} bytes
 * @property {(() => void)[]} acks  one for each time the broker sent it
 * @property {boolean} emitted
 * @property {boolean} stored  all that came of it is stored: it is acknowledged, since the spool has it until its commit record is there
 */

/** Of one more message: a spool cuts what is larger. */
const MESSAGE_BYTES = 2 ** 18
/** A head comes each 5 s, while it changes. */
const STILL_MS = 5000
/** So long nothing of a source is requested for a sink that can store nothing of it. */
const POSTPONED_MS = 10_000

/**
 * The deliveries that a consumer has received and not acknowledged. Each goes into the flow when all its sinks are ready, is acknowledged
 * once every sink has committed it, and goes into the flow again, then is parked, when the flow loses it.
 */
export class HeldDeliveries {
  /** The sinks that a delivery waits for. @type {string[]} */
  sinks = []
  /** @type {Map<string, Held>} by delivery id, in order of arrival */
  #held = new Map()
  #ready
  #options
  /** How many are stored and not finished. */
  #stored = 0
  bytes = 0
  counters = { emittedAgain: 0, parked: 0 }

  /**
   * @param {Pick<import('./reader-sinks.js').ReaderSinks, 'areReady'|'mark'|'labelOf'>} ready
   * @param {object} options
   * @param {import('./contract.js').Deliveries} options.deliveries
   * @param {(delivery: Delivery) => void} options.emit
   * @param {(stream: Stream, sink: string, identity: import('../../gateway/batch/batch.js').Identity) => void} options.onCommitted
   * @param {() => void} options.onDone  there is more room
   * @param {number} options.window
   * @param {number} options.windowBytes
   * @param {number} options.overdueMs
   * @param {number} options.stillMs
   * @param {number} options.attempts
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor (ready, options) {
    this.#ready = ready
    this.#options = options
  }

  get size () { return this.#held.size }

  /** Those that are not acknowledged. */
  get unacknowledged () { return this.#held.size - this.#stored }

  /** @param {number} bytes  of one more delivery; one is always accepted */
  hasRoom (bytes) {
    const { window, windowBytes } = this.#options
    return this.#held.size === 0 || (this.unacknowledged < window && this.bytes + bytes <= windowBytes)
  }

  /** The sinks that have long stood still with what is held, so that there is no room for more. @returns {string[]} ids */
  get heldUpBy () {
    const oldest = this.hasRoom(MESSAGE_BYTES) ? undefined : this.#oldestStill(this.#options.stillMs)
    return [...oldest?.sinks ?? []].filter(([, { state }]) => state !== 'finished').map(([sink]) => sink)
  }

  /** Whether the broker waits for acknowledgements, and may not send what it has, as the heads of the spools. */
  get isStill () { return this.#oldestStill(STILL_MS) !== undefined }

  /** The oldest that is not stored, where nothing has been done with it for so long. @param {number} ms */
  #oldestStill (ms) {
    const oldest = [...this.#held.values()].find(({ stored }) => !stored)?.delivery
    return oldest && performance.now() - oldest.activeAtMs >= ms ? oldest : undefined
  }

  /** The broker has sent a delivery again. @param {string} id @param {() => void} ack @returns {boolean} false when it is not held */
  redelivered (id, ack) {
    const held = this.#held.get(id)
    if (held?.stored) ack()
    else held?.acks.push(ack)
    return held !== undefined
  }

  /**
   * @param {string} id
   * @param {import('../../gateway/batch/batch.js').Batch} batch  with its identity
   * @param {Stream} stream
   * @param {{bytes: number, ack: () => void}} received
   */
  hold (id, batch, stream, { bytes, ack }) {
    const { sinks } = this
    const delivery = this.#options.deliveries.open({
      id,
      batch,
      sinks,
      mark: (sink, record) => this.#ready.mark(sink, record),
      onStored: () => this.#onStored(id),
      onOpened: () => { if (this.#held.has(id)) this.#emit(delivery) },
      onPostponed: sink => this.#onPostponed(id, sink),
      onFinished: sink => this.#onFinished(id, sink)
    })
    const { epoch, seq } = delivery.identity
    this.#held.set(id, { delivery, stream, bytes, acks: [ack], emitted: false, stored: false })
    this.bytes += bytes
    stream.hold(delivery.identity)
    for (const sink of sinks) if (stream.storedBy(sink).has(epoch, seq)) delivery.recorded(sink)
    if (this.#held.has(id)) this.#emit(delivery)
  }

  /**
   * Which sinks a delivery waits for, from now on. One that is new gets what is held already as any sink that lacks it.
   * @param {string[]} sinks
   */
  wire (sinks) {
    this.sinks = sinks
    for (const { delivery } of [...this.#held.values()]) {
      for (const sink of delivery.sinks.keys()) if (!sinks.includes(sink)) delivery.recorded(sink)
    }
  }

  /** A sink's database has been read: what it has of what is held is finished there. @param {string} sink */
  recorded (sink) {
    for (const { delivery, stream } of [...this.#held.values()]) {
      if (stream.storedBy(sink).has(delivery.identity.epoch, delivery.identity.seq)) delivery.recorded(sink)
    }
  }

  /** A sink has come back: what it has released, and what came while it was away, goes into the flow. */
  emitWaiting () {
    for (const { delivery, emitted } of [...this.#held.values()]) {
      if (!emitted || delivery.waiting) this.#emit(delivery)
    }
  }

  /** What the flow has under way may be lost, by no fault of its own. */
  doubt () {
    for (const { delivery } of this.#held.values()) {
      delivery.doubt()
      delivery.attempts = 0
    }
  }

  /** What the flow has lost goes into it again; after several attempts it is parked. */
  emitOverdue () {
    const { overdueMs, attempts } = this.#options
    for (const [id, held] of this.#held) {
      const { delivery, emitted } = held
      if (!emitted || !this.#ready.areReady || !delivery.idle || performance.now() - delivery.activeAtMs < overdueMs) continue
      if (delivery.attempts < attempts) {
        this.counters.emittedAgain++
        delivery.doubt()
        this.#emit(delivery)
      } else this.#park(id, held)
    }
  }

  /** The connection has ended: the broker sends again what is not acknowledged. */
  dropAcks () {
    for (const held of this.#held.values()) held.acks = []
  }

  /** Of some streams, what is held is another's: it stays unacknowledged. @param {(stream: Stream) => boolean} isGone */
  giveUp (isGone) {
    for (const [id, held] of [...this.#held]) if (isGone(held.stream)) this.#done(id, { ...held, acks: [] })
  }

  /** What is not finished stays unacknowledged. */
  close () {
    for (const id of this.#held.keys()) this.#options.deliveries.close(id)
    this.#held.clear()
    this.#stored = 0
  }

  /** @param {Delivery} delivery */
  #emit (delivery) {
    if (!this.#ready.areReady) return
    const held = this.#held.get(delivery.id)
    if (held) held.emitted = true
    delivery.begin()
    this.#options.emit(delivery)
  }

  /** Waiting for more of it would hold up what comes after it. @param {string} id */
  #onStored (id) {
    const held = this.#held.get(id)
    if (!held || held.stored) return
    held.stored = true
    this.#stored++
    for (const ack of held.acks.splice(0)) ack()
    this.#options.onDone()
  }

  /**
   * It is acknowledged, since the spool has it; it comes again with what the sink lacks of the source.
   * @param {string} id
   * @param {string} sink
   */
  #onPostponed (id, sink) {
    const held = this.#held.get(id)
    if (!held) return
    held.stream.postpone(sink, performance.now() + POSTPONED_MS)
    if (held.delivery.finished) this.#done(id, held)
  }

  /** @param {string} id @param {string} sink */
  #onFinished (id, sink) {
    const held = this.#held.get(id)
    if (!held) return
    if (this.sinks.includes(sink)) this.#options.onCommitted(held.stream, sink, held.delivery.identity)
    if (held.delivery.finished) this.#done(id, held)
  }

  /** @param {string} id @param {Held} held */
  #park (id, held) {
    const { delivery: { identity, sinks }, stream } = held
    const missing = [...sinks].filter(([, { state }]) => state !== 'finished').map(([sink]) => this.#ready.labelOf(sink)).join(', ')
    this.#options.log.error(`Batch ${id} went into the flow ${this.#options.attempts} times and did not come out at ${missing}: ` +
      'parked until the next deploy. A flow that drops on purpose needs a settle node.')
    this.counters.parked++
    stream.park(identity.epoch, identity.seq, identity.rows ?? 0)
    this.#done(id, held)
  }

  /** @param {string} id @param {Held} held */
  #done (id, { delivery: { identity }, stream, bytes, acks, stored }) {
    this.#held.delete(id)
    if (stored) this.#stored--
    this.bytes -= bytes
    stream.release(identity)
    this.#options.deliveries.close(id)
    for (const ack of acks) ack()
    this.#options.onDone()
  }
}
