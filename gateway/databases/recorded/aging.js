import { SluiceError } from '../../base/errors.js'

/**
 * The tables of a sink whose rows may become too old.
 *
 * @typedef {import('../sink.js').Span} Span
 *
 * @typedef {object} AgingTable
 * @property {boolean} isOwned  Sluice made it, or was told that it may treat it so
 * @property {() => Promise<Span|null>} span  of its rows; null where it has none
 * @property {(before: bigint, maxRows: number) => Promise<number>} removeBefore  in one transaction; returns how many, 0 where that is
 *   not known
 */

/** Of a source's name that leads to no table: its rows are dead letters. */
const NO_TABLE = ['SLUICE_SINK_TABLE_MISFIT', 'SLUICE_SINK_IDENTIFIER']

/** @template Session */
export class AgingTables {
  #names
  #storage
  /** @type {Set<string>} */
  #sources = new Set()
  /** By a source of each table that has rows, when the oldest is of. @type {Map<string, bigint>} */
  #oldest = new Map()

  /** @param {import('../names.js').TableNames} names @param {import('./sink.js').CommonStorage<Session, any>} storage */
  constructor (names, storage) {
    this.#names = names
    this.#storage = storage
  }

  /** Rows of these sources have been stored, or will be. @param {{source: string}[]} all  batches or records */
  note (all) {
    for (const { source } of all) this.#sources.add(source)
  }

  /** @param {Session} session @returns {Promise<Span|null>} of all */
  async span (session) {
    /** @type {Span[]} */
    const spans = []
    this.#oldest.clear()
    for (const source of this.#names.perSource ? this.#sources : ['']) {
      const span = await (await this.#tableOf(session, source))?.span()
      if (!span) continue
      this.#oldest.set(source, span.oldest)
      spans.push(span)
    }
    return spanOf(spans)
  }

  /** @param {Session} session @param {bigint} before @param {number} maxRows */
  async removeBefore (session, before, maxRows) {
    let removed = 0
    for (const [source, oldest] of this.#oldest) {
      if (removed >= maxRows) break
      if (oldest >= before) continue
      const wanted = maxRows - removed
      const its = await (await this.#tableOf(session, source))?.removeBefore(before, wanted) ?? 0
      if (its < wanted) this.#oldest.delete(source)
      removed += its
    }
    return removed
  }

  /** @param {Session} session @param {string} source */
  async #tableOf (session, source) {
    const { perSource } = this.#names
    try {
      const name = this.#names.of(source)
      const table = await this.#storage.agingTable?.(session, name, !perSource, perSource ? [source] : [...this.#sources])
      if (!table || table.isOwned) return table ?? null
      if (!perSource) throw notOwned(this.#storage.place, name)
    } catch (error) {
      if (!perSource || !NO_TABLE.includes(/** @type {any} */ (error).code)) throw error
    }
    return null
  }
}

/** @param {Span[]} spans @returns {Span|null} over all of them */
export function spanOf (spans) {
  if (spans.length === 0) return null
  return spans.reduce((a, b) => ({
    oldest: a.oldest < b.oldest ? a.oldest : b.oldest, newest: a.newest > b.newest ? a.newest : b.newest
  }))
}

/** @param {string} place @param {string} name */
export function notOwned (place, name) {
  return new SluiceError('SLUICE_SINK_NOT_OWNED', `${place}: Sluice did not make "${name}", and removes no rows from it.`, {
    fix: 'To have it remove rows there, mark it as docs/databases.md says; or keep its rows for ever.'
  })
}
