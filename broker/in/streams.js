import { SluiceError } from '../../gateway/base/errors.js'
import { Places, sizeOf } from './places.js'
import { Stream } from './stream.js'

/**
 * @typedef {import('../../gateway/databases/sink.js').CommitRecord} CommitRecord
 * @typedef {import('./head.js').HeadSource} HeadSource
 */

const MAX_GATEWAYS = 1000
const MAX_SPOOLS = 100

/** What a consumer knows of each source, from any gateway. What the broker may invent is bounded; what a database has, is not. */
export class Streams {
  /** @type {Map<string, Map<string, Stream>>} gateway → source */
  #gateways = new Map()
  /** @type {Map<string, Map<string, Set<string>>>} gateway → spool → the sources of its head */
  #spools = new Map()
  #places = new Places()

  /** Those whose heads are known. */
  get gateways () { return [...this.#spools.keys()] }

  * [Symbol.iterator] () { for (const sources of this.#gateways.values()) yield * sources.values() }

  /** @param {string} gateway */
  of (gateway) { return [...this.#gateways.get(gateway)?.values() ?? []] }

  /** @param {string} gateway @param {string} source @returns {Stream} */
  get (gateway, source) {
    const sources = this.#sourcesOf(gateway)
    let stream = sources.get(source)
    if (!stream) {
      sources.set(source, stream = new Stream(gateway, source))
      this.#places.add(gateway, { sources: 1 })
    }
    return stream
  }

  /**
   * Whether one more is too many.
   * @param {string} gateway
   * @param {string} source
   * @throws {SluiceError} SLUICE_PROTOCOL
   */
  check (gateway, source) {
    this.#checkGateway(gateway)
    const lack = this.#places.lack(gateway, { sources: this.#isKnown(gateway, source) ? 0 : 1 })
    if (lack) throw lack
  }

  /**
   * A spool has said what it holds. A source for which there is no room stays as it was.
   * @param {string} gateway
   * @param {string} spool
   * @param {HeadSource[]} sources
   * @param {boolean} [isAll]  false: there was no room for more, and a source that is not named stays as it was
   * @returns {{hasLeft: boolean, lack: SluiceError|null}} whether something has left it that some sink is not known to have; for what
   *   there was no room
   * @throws {SluiceError} SLUICE_PROTOCOL
   */
  setHead (gateway, spool, sources, isAll = true) {
    if (sources.length === 0 && !this.#gateways.has(gateway)) return { hasLeft: false, lack: null }
    this.#checkGateway(gateway)
    const spools = this.#spools.get(gateway) ?? new Map()
    if (!spools.has(spool) && spools.size >= MAX_SPOOLS) {
      throw new SluiceError('SLUICE_PROTOCOL', `Its gateway has more than ${MAX_SPOOLS} spools.`)
    }
    this.#spools.set(gateway, spools)
    this.#sourcesOf(gateway)
    /** @type {Set<string>} */
    const known = spools.get(spool) ?? new Set()
    const named = new Set(sources.map(({ source }) => source))
    const gone = isAll ? [...known].filter(source => !named.has(source)) : []
    let hasLeft = false
    for (const source of gone) {
      const stream = this.get(gateway, source)
      this.#places.add(gateway, difference(stream.headOf(spool), null))
      if (stream.setHead(spool, null)) hasLeft = true
      known.delete(source)
    }
    /** @type {SluiceError|null} */
    let lack = null
    for (const head of sources) {
      const { source } = head
      const isKnown = this.#isKnown(gateway, source)
      const more = difference(isKnown ? this.get(gateway, source).headOf(spool) : null, head)
      const lacking = this.#places.lack(gateway, { ...more, sources: isKnown ? 0 : 1 })
      lack ??= lacking
      if (lacking) continue
      this.#places.add(gateway, more)
      if (this.get(gateway, source).setHead(spool, head, isAll)) hasLeft = true
      known.add(source)
    }
    if (known.size > 0) spools.set(spool, known)
    else spools.delete(spool)
    return { hasLeft, lack }
  }

  /**
   * What a sink's database has, of all sources.
   * @param {string} sink
   * @param {CommitRecord[]} records
   * @param {number} reading  its number
   * @returns {number} how many batches were known to be stored, and are not there
   */
  read (sink, records, reading) {
    const bySource = Map.groupBy(records, ({ gateway, source }) => this.get(gateway, source))
    let gone = 0
    for (const stream of this) gone += stream.storedBy(sink).read(bySource.get(stream) ?? [], reading)
    return gone
  }

  /** What is known of all others is forgotten. @param {(gateway: string, source: string) => boolean} isKept */
  keep (isKept) {
    for (const [gateway, sources] of this.#gateways) {
      const spools = this.#spools.get(gateway) ?? new Map()
      for (const source of [...sources.keys()]) {
        if (isKept(gateway, source)) continue
        const stream = /** @type {Stream} */ (sources.get(source))
        for (const [spool, known] of spools) {
          if (known.delete(source)) this.#places.add(gateway, difference(stream.headOf(spool), null))
          if (known.size === 0) spools.delete(spool)
        }
        sources.delete(source)
        this.#places.add(gateway, { sources: -1 })
      }
      if (sources.size > 0) continue
      this.#gateways.delete(gateway)
      this.#spools.delete(gateway)
    }
  }

  /** The sink is gone. @param {string} sink */
  forget (sink) { for (const stream of this) stream.forget(sink) }

  /** A source that is silent from now on has sent all that its spool has. */
  connected () { for (const stream of this) Object.assign(stream, { lastDataMs: performance.now(), isQuiet: false }) }

  /** What the spools have, or may have: for compaction. */
  heads () { return [...this].flatMap(stream => stream.heads()) }

  /** @param {string} gateway */
  #sourcesOf (gateway) {
    let sources = this.#gateways.get(gateway)
    if (!sources) this.#gateways.set(gateway, sources = new Map())
    return sources
  }

  /** @param {string} gateway */
  #checkGateway (gateway) {
    if (this.#gateways.has(gateway) || this.#gateways.size < MAX_GATEWAYS) return
    throw new SluiceError('SLUICE_PROTOCOL', `More than ${MAX_GATEWAYS} gateways; its own is ignored.`)
  }

  /** @param {string} gateway @param {string} source */
  #isKnown (gateway, source) { return this.#gateways.get(gateway)?.has(source) ?? false }
}

/** @param {HeadSource|null|undefined} before @param {HeadSource|null} after */
function difference (before, after) {
  const [old, now] = [sizeOf(before), sizeOf(after)]
  return { epochs: now.epochs - old.epochs, ranges: now.ranges - old.ranges }
}
