import { Recent } from '../../history/percentiles.js'
import { KEPT_ROWS } from '../../stats/meter.js'

/**
 * @typedef {import('../../stats/meter.js').Meter} Meter
 * @typedef {import('../../stats/stats.js').Follower} Follower
 * @typedef {{listener: import('../../stats/meter.js').Listener, ages: Recent, writes: Recent}} Followed
 * @typedef {{p50: number, p99: number}|null} Percentiles  ms; null where there was nothing
 */

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
    const listener = { latency: ages, writes: { record: (/** @type {string} */ _outcome, /** @type {number} */ us) => writes.record(us) } }
    meter.intervals.add(listener)
    meter.keptRows = Infinity
    this.#followed.set(meter, { listener, ages, writes })
  }

  /** @param {Meter} meter */
  unfollow (meter) {
    this.changes++
    const followed = this.#followed.get(meter)
    if (followed) meter.intervals.delete(followed.listener)
    this.#followed.delete(meter)
    meter.keptRows = KEPT_ROWS
    for (const [source, { rows }] of meter.lastBatches) if (rows > KEPT_ROWS) meter.lastBatches.delete(source)
  }

  close () {
    this.#stats.followers.delete(this)
    for (const meter of [...this.#followed.keys()]) this.unfollow(meter)
  }

  /** Since the last look. @returns {Map<Meter, {age: Percentiles, write: Percentiles}>} */
  take () {
    return new Map(Array.from(this.#followed, ([meter, { ages, writes }]) => {
      return [meter, { age: inMs(ages.take()), write: inMs(writes.take()) }]
    }))
  }
}

/** @param {Percentiles} taken  in microseconds @returns {Percentiles} */
function inMs (taken) { return taken && { p50: taken.p50 / 1000, p99: taken.p99 / 1000 } }
