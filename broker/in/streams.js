import { Stream } from './stream.js'

/** @typedef {import('../../gateway/databases/sink.js').Committed} Committed */

/** What a consumer knows of each source, from any gateway. */
export class Streams {
  /** @type {Map<string, Stream>} */
  #streams = new Map()
  #ready

  /** @param {import('./ready-sinks.js').ReadySinks} ready */
  constructor (ready) {
    this.#ready = ready
  }

  [Symbol.iterator] () { return this.#streams.values() }

  /** @param {string} gateway @param {string} source */
  get (gateway, source) {
    const key = `${gateway}/${source}`
    let stream = this.#streams.get(key)
    if (!stream) {
      stream = new Stream(gateway, source)
      for (const { name } of this.#ready) stream.setStored(name, []) // it was not among what the sink has reported
      this.#streams.set(key, stream)
    }
    return stream
  }

  /** What a sink has committed, of all sources. @param {string} sink @param {Committed[]} committed */
  setStored (sink, committed) {
    for (const { gateway, source } of committed) this.get(gateway, source)
    for (const stream of this) {
      stream.setStored(sink, committed.filter(({ gateway, source }) => gateway === stream.gateway && source === stream.source))
    }
  }

  /** A source that is silent from now on has sent all that its spool has. */
  connected () {
    for (const stream of this) stream.lastDataMs = performance.now()
  }

  /** How many batches the sinks can never get, and how many a new sink came too late for. @param {string[]} sinks */
  lost (sinks) {
    const counts = [...this].flatMap(stream => sinks.map(sink => stream.lost(sink)))
    return {
      lost: counts.reduce((sum, each) => sum + each.lost, 0),
      shortfall: counts.reduce((sum, each) => sum + each.shortfall, 0)
    }
  }

  /** What the spools have, as far as they have published it: for compaction. */
  heads () {
    return [...this].filter(({ headKnown }) => headKnown).flatMap(stream => stream.heads())
  }
}
