import { setTimeout as sleep } from 'node:timers/promises'

/** As often as that. */
const LOOK_MS = 20
/** When nothing has grown for so long, rows are counted. */
const QUIET_MS = 300

/**
 * What a consumer has stored, in however many tables: all that have a column n, the number of a row.
 */
export class Stored {
  #query

  /** @param {{query: (sql: string) => Promise<{rows: any[]}>}} database */
  constructor ({ query }) {
    this.#query = query
  }

  /**
   * Rows and different ones, without those of the warm-up.
   * @returns {Promise<{rows: number, distinct: number}>}
   */
  async count () { return this.#ask('count(*) AS rows, count(DISTINCT n) AS distinct', 'n >= 0', { rows: 0, distinct: 0 }) }

  /** Rows of the warm-up, with the probe. */
  async countWarmUp () { return (await this.#ask('count(DISTINCT n) AS rows', 'n < 0', { rows: 0 })).rows }

  /**
   * Waits until so many different rows are there, or for as long as it may. Looking costs the server next to nothing: the rows are counted
   * only when their tables have stopped growing.
   * @param {number} rows
   * @param {{limitMs: number}} options
   * @returns {Promise<{rows: number, atMs: number}>} when the last of them came
   */
  async until (rows, { limitMs }) {
    const deadline = performance.now() + limitMs
    let last = { bytes: -1, atMs: performance.now() }
    for (;;) {
      const before = performance.now()
      const bytes = await this.#bytes()
      const now = performance.now()
      if (bytes !== last.bytes) last = { bytes, atMs: now }
      if (now > deadline) return { rows: (await this.count()).distinct, atMs: now }
      if (now - last.atMs > QUIET_MS) {
        const { distinct } = await this.count()
        if (distinct >= rows) return { rows: distinct, atMs: last.atMs }
        await sleep(QUIET_MS)
      }
      await sleep(Math.max(LOOK_MS, 10 * (now - before)))
    }
  }

  async #bytes () {
    const { rows: [{ bytes }] } = await this.#query(
      'SELECT sum(pg_relation_size(oid)) AS bytes FROM pg_class WHERE relkind = \'r\' AND relnamespace = current_schema()::regnamespace')
    return Number(bytes)
  }

  /**
   * @template {Record<string, number>} T
   * @param {string} what @param {string} condition @param {T} nothing
   * @returns {Promise<T>}
   */
  async #ask (what, condition, nothing) {
    const { rows: tables } = await this.#query(
      'SELECT table_name AS name FROM information_schema.columns WHERE table_schema = current_schema() AND column_name = \'n\'')
    if (tables.length === 0) return nothing
    const all = tables.map(({ name }) => `SELECT n FROM "${name}"`).join(' UNION ALL ')
    const { rows: [row] } = await this.#query(`SELECT ${what} FROM (${all}) AS stored WHERE ${condition}`)
    return /** @type {T} */ (Object.fromEntries(Object.keys(nothing).map(name => [name, Number(row[name])])))
  }
}
