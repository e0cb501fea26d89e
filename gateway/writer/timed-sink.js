/**
 * A sink that tells its meter how long each batch took, and what became of it. What is only tried, to find out which rows are refused, is
 * no batch of its own.
 *
 * @typedef {import('../databases/sink.js').Sink} Sink
 */

export class TimedSink {
  #sink
  #isTransient
  #meter
  #clock

  /**
   * @param {Sink} sink
   * @param {{isTransient: (error: unknown) => boolean, meter: import('./writer.js').WriterMeter, clock: import('./retry.js').Clock}} tools
   */
  constructor (sink, { isTransient, meter, clock }) {
    this.#sink = sink
    this.#isTransient = isTransient
    this.#meter = meter
    this.#clock = clock
  }

  /** @type {Sink['prepare']} */
  prepare (batches, options) { return this.#sink.prepare(batches, options) }

  /** @type {Sink['write']} */
  async write (batches, options) {
    if (options?.probe) return this.#sink.write(batches, options)
    const begunMs = this.#clock.now()
    const record = (/** @type {import('../stats/write-times.js').Outcome} */ outcome) => {
      this.#meter.recordWrite(outcome, (this.#clock.now() - begunMs) * 1000)
    }
    try {
      const result = await this.#sink.write(batches, options)
      record('stored')
      return result
    } catch (error) {
      record(this.#isTransient(error) ? 'failed' : 'refused')
      throw error
    }
  }
}
