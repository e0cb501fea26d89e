import { Recent } from '../../history/percentiles.js'

/**
 * @typedef {import('../../stats/meter.js').Meter} Meter
 * @typedef {import('../../stats/stats.js').Follower} Follower
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {object} Followed
 * @property {import('../../stats/meter.js').Listener} listener
 * @property {Recent} ages
 * @property {Recent} writes
 * @property {Map<string, Batch[]>} batches  the last, by source
 * @typedef {{p50: number, p99: number}|null} Percentiles  ms; null where there was nothing
 */

/** Of each source, the last batches are kept until there are so many rows. */
export const LAST_ROWS = 10

/**
 * How old rows are that pass the meters, from one look to the next, and which passed last: as long as somebody looks. A `Reader` would
 * make percentiles since the start as well, which takes a hundred times as long.
 * @implements {Follower}
 */
export class Pulse {
  /** Grows with each meter that comes or goes. */
  changes = 0
  /** @type {Map<Meter, Followed>} */
  #followed = new Map()
  #stats

  /** @param {import('../../stats/stats.js').Stats} stats */
  constructor (stats) {
    this.#stats = stats
    for (const meter of stats.meters) this.follow(meter)
    stats.followers.add(this)
  }

  /** @param {Meter} meter */
  follow (meter) {
    this.changes++
    const [ages, writes] = [new Recent(), new Recent()]
    const batches = new Map()
    const listener = {
      latency: ages,
      writes: { record: (/** @type {string} */ _outcome, /** @type {number} */ us) => writes.record(us) },
      ...meter.stage !== 'sink' && { batch: (/** @type {Batch} */ batch) => keep(batches, batch) }
    }
    meter.intervals.add(listener)
    this.#followed.set(meter, { listener, ages, writes, batches })
  }

  /** @param {Meter} meter */
  unfollow (meter) {
    this.changes++
    const followed = this.#followed.get(meter)
    if (followed) meter.intervals.delete(followed.listener)
    this.#followed.delete(meter)
  }

  close () {
    this.#stats.followers.delete(this)
    for (const meter of [...this.#followed.keys()]) this.unfollow(meter)
  }

  /** The last that passed a meter of a source, oldest first. @param {Meter} meter @param {string} source @returns {Batch[]} */
  batches (meter, source) {
    const small = meter.lastBatches.get(source)
    return this.#followed.get(meter)?.batches.get(source) ?? (small ? [small] : [])
  }

  /** Since the last look. @returns {Map<Meter, {age: Percentiles, write: Percentiles}>} */
  take () {
    return new Map(Array.from(this.#followed, ([meter, { ages, writes }]) => {
      return [meter, { age: inMs(ages.take()), write: inMs(writes.take()) }]
    }))
  }
}

/** @param {Map<string, Batch[]>} batches @param {Batch} batch */
function keep (batches, batch) {
  const its = batches.get(batch.source)
  if (!its) return void batches.set(batch.source, [batch])
  its.push(batch)
  let rows = its.reduce((sum, each) => sum + each.rows, 0)
  while (rows - its[0].rows >= LAST_ROWS) rows -= /** @type {Batch} */ (its.shift()).rows
}

/** @param {Percentiles} taken  in microseconds @returns {Percentiles} */
function inMs (taken) { return taken && { p50: taken.p50 / 1000, p99: taken.p99 / 1000 } }
