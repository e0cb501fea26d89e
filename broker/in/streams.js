import { SluiceError } from '../../gateway/base/errors.js'
import { Stream } from './stream.js'

/** @typedef {import('../../gateway/databases/sink.js').CommitRecord} CommitRecord */

const MAX_GATEWAYS = 1000
const MAX_SPOOLS = 100
const MAX_STREAMS = 50_000

/** What a consumer knows of each source, from any gateway. What the broker may invent is bounded; what a database has, is not. */
export class Streams {
  /** @type {Map<string, Map<string, Stream>>} gateway → source */
  #gateways = new Map()
  /** @type {Map<string, Map<string, string[]>>} gateway → spool → the sources of its head */
  #spools = new Map()
  #count = 0

  /** Those whose heads are known. */
  get gateways () { return [...this.#spools.keys()] }

  * [Symbol.iterator] () { for (const sources of this.#gateways.values()) yield * sources.values() }

  /** @param {string} gateway */
  of (gateway) { return [...this.#gateways.get(gateway)?.values() ?? []] }

  /** @param {string} gateway @param {string} source @returns {Stream} */
  get (gateway, source) {
    const sources = this.#gateways.get(gateway) ?? new Map()
    this.#gateways.set(gateway, sources)
    let stream = sources.get(source)
    if (!stream) {
      sources.set(source, stream = new Stream(gateway, source))
      this.#count++
    }
    return stream
  }

  /**
   * Whether one more is too many.
   * @param {string} gateway
   * @param {string[]} sources
   * @throws {SluiceError} SLUICE_PROTOCOL
   */
  check (gateway, sources) {
    const known = this.#gateways.get(gateway)
    const isNew = !known && this.#gateways.size >= MAX_GATEWAYS
    if (isNew || this.#count + sources.filter(source => !known?.has(source)).length > MAX_STREAMS) {
      const text = `More than ${MAX_GATEWAYS} gateways or ${MAX_STREAMS} sources; its own are ignored.`
      throw new SluiceError('SLUICE_PROTOCOL', text)
    }
  }

  /**
   * A spool has said what it holds.
   * @param {string} gateway
   * @param {string} spool
   * @param {import('./head.js').HeadSource[]} sources
   * @param {boolean} [isAll]  false: there was no room for more, and a source that is not named stays as it was
   * @returns {boolean} whether something has left it that some sink is not known to have
   * @throws {SluiceError} SLUICE_PROTOCOL
   */
  setHead (gateway, spool, sources, isAll = true) {
    const names = sources.map(({ source }) => source)
    this.check(gateway, names)
    const spools = this.#spools.get(gateway) ?? new Map()
    if (!spools.has(spool) && spools.size >= MAX_SPOOLS) {
      throw new SluiceError('SLUICE_PROTOCOL', `Its gateway has more than ${MAX_SPOOLS} spools.`)
    }
    const named = new Set(names)
    const unnamed = (spools.get(spool) ?? []).filter((/** @type {string} */ name) => !named.has(name))
    const gone = isAll ? unnamed : []
    const left = [
      ...sources.map(head => this.get(gateway, head.source).setHead(spool, head, isAll)),
      ...gone.map((/** @type {string} */ name) => this.get(gateway, name).setHead(spool, null))
    ]
    if (names.length > 0) spools.set(spool, isAll ? names : [...names, ...unnamed])
    else spools.delete(spool)
    this.#spools.set(gateway, spools)
    return left.includes(true)
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

  /** The sink is gone. @param {string} sink */
  forget (sink) { for (const stream of this) stream.forget(sink) }

  /** A source that is silent from now on has sent all that its spool has. */
  connected () { for (const stream of this) stream.lastDataMs = performance.now() }

  /** What the spools have, or may have: for compaction. */
  heads () { return [...this].flatMap(stream => stream.heads()) }
}
