import { SluiceError } from '../../base/errors.js'
import {
  edgeOf, inOrder, MAX_SUMMARIES, minimumOf, needSamples, poolable, pooled, summariesOf, summary, tooManySummaries
} from '../reading/compute.js'
import { documentRange, documentSamples, fieldsOf, parseDocument } from '../reading/documents.js'
import { handedOver } from '../reading/handover.js'
import { PAGE_ROWS, Pages } from '../reading/pages.js'
import { KeyedTable } from './keyed-table.js'
import { TableStatements } from './table-statements.js'

/**
 * The reader of every database with SQL. What a database supplies is a `Readable`; its dialect is described in `sql/table-statements.js`.
 *
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Range} Range
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('../reader.js').Statistic} Statistic
 * @typedef {import('../reader.js').Summary} Summary
 * @typedef {import('./table-statements.js').Statement} Statement
 *
 * @typedef {object} Readable
 * @property {string} table  its name, quoted
 * @property {import('./read-dialect.js').ReadDialect} dialect
 * @property {<T>(work: (session: ReadSession) => Promise<T>, signal?: AbortSignal) => Promise<T>} read  lends a session, connecting when
 *   needed; the signal ends its statements
 * @property {(error: unknown) => SluiceError} failure  the error that users see, with this one as its cause
 * @property {() => Promise<void>} [close]  of what is the reader's own
 *
 * @typedef {object} ReadSession
 * @property {() => Promise<import('./read-dialect.js').Column[]>} columns  of the table; none where it does not exist
 * @property {(statement: Statement) => Promise<any[][]>} all  the rows of a statement that has few
 * @property {(statement: Statement, atATime: number) => AsyncIterable<any[][]>} rows  the rows of a statement, about so many at a time, as
 *   they are asked for; all show one state of the database, and the statement ends when the rest is not wanted
 * @property {(table: TableStatements, range: Times, backwards?: boolean) => AsyncIterable<Times>} [slices]  a range in the pieces in which
 *   it is to be read, for a database that works in the gateway's own thread
 * @typedef {{from: bigint, to: bigint, tags?: import('../reader.js').WantedTags, signal?: AbortSignal}} Times
 */

const DOCUMENTS_AT_A_TIME = 50
const SENSORS_A_STATEMENT = 100
const KEYS_A_STATEMENT = 500

/** How long a table is taken to have the columns that it had: reading one row asks for nothing else. */
const COLUMNS_VALID_MS = 1000

/** @implements {Reader} */
export class SqlReader {
  #options
  #readable
  /** @type {KeyedTable|null} */
  #keyed = null
  #keyedUntilMs = 0

  /** @param {import('../reading/table.js').TableOptions} options @param {Readable} readable */
  constructor (options, readable) {
    this.#options = options
    this.#readable = readable
  }

  /** @type {Reader['samples']} */
  async * samples (range) {
    const pages = this.#options.layout === 'document' ? documentSamples(this.#documents(range), range) : this.#pages(range)
    for await (const page of pages) {
      yield page
      range.signal?.throwIfAborted()
    }
  }

  /** @type {NonNullable<Reader['sensors']>} */
  async sensors (range) {
    if (this.#options.layout === 'document') {
      const names = new Set()
      for await (const { measurements } of this.#documents({ ...range, sensors: [] })) {
        for (const name of fieldsOf(parseDocument(measurements))) names.add(name)
      }
      return [...names]
    }
    return this.#attempt(range.signal, async (session, table) =>
      table.isNarrow ? (await session.all(table.distinctSensors(range))).map(([name]) => String(name)) : table.sensors)
  }

  /** @type {Reader['summaries']} */
  async summaries (range) {
    const { sensors, statistics, together = false, signal } = range
    if (this.#options.layout === 'document' || !this.#readable.dialect.stddev || needSamples(statistics)) return summariesOf(this, range)
    const isNarrow = this.#options.layout === 'narrow'
    if (together && !isNarrow) {
      return pooled(await this.summaries({ ...range, together: false, statistics: poolable(statistics) }), statistics)
    }
    const asked = /** @type {Statistic[]} */ (['count', ...statistics.filter(name => name !== 'count')])
    const { statistic = Number } = this.#readable.dialect
    return this.#attempt(signal, async (session, table) => {
      /** @type {Summary[]} */
      const summaries = []
      const add = (/** @type {any} */ bucket, /** @type {string} */ sensor, /** @type {any[]} */ cells) => {
        const numbers = cells.map(cell => cell === null ? undefined : statistic(cell))
        const [count = 0] = numbers
        if (count === 0) return
        const values = Object.fromEntries(asked.map((name, i) => [name, name === 'stddev' && count < 2 ? undefined : numbers[i]]))
        summaries.push(summary(BigInt(bucket), sensor, values, statistics))
      }
      const known = table.known(sensors).filter(sensor => table.hasNumbers(sensor))
      const maxRows = Math.floor(MAX_SUMMARIES / (table.isNarrow ? 1 : known.length))
      const atATime = together ? known.length : SENSORS_A_STATEMENT
      for (let first = 0; first < known.length; first += atATime) {
        const some = known.slice(first, first + atATime)
        const rows = await session.all(table.summaries(some, range, asked, maxRows + 1))
        if (rows.length > maxRows || summaries.length + rows.length > MAX_SUMMARIES) throw tooManySummaries()
        for (const [bucket, ...rest] of rows) {
          if (together) add(bucket, '', rest)
          else if (table.isNarrow) add(bucket, String(rest[0]), rest.slice(1))
          else some.forEach((sensor, i) => add(bucket, sensor, rest.slice(i * asked.length, (i + 1) * asked.length)))
        }
      }
      return inOrder(summaries, sensors)
    })
  }

  /** @type {Reader['edge']} */
  async edge (range) {
    if (this.#options.layout === 'document') return edgeOf(this, range)
    return this.#attempt(range.signal, async (session, table) => {
      if (!hasNumbers(table, range.sensor)) return null
      for await (const { from, to } of slices(session, table, range, range.last)) {
        const [found] = await session.all(table.edge({ ...range, from, to }))
        if (found) return BigInt(found[0])
      }
      return null
    })
  }

  /** @type {Reader['minimum']} */
  async minimum (range) {
    if (this.#options.layout === 'document') return minimumOf(this, range)
    return this.#attempt(range.signal, async (session, table) => {
      if (!hasNumbers(table, range.sensor)) return null
      /** @type {any[]|null} */
      let least = null
      for await (const { from, to } of slices(session, table, range)) {
        const [found] = await session.all(table.minimum({ ...range, from, to }))
        if (found && (least === null || found[1] < least[1])) least = found
      }
      return least && BigInt(least[0])
    })
  }

  /** @type {NonNullable<Reader['byKey']>} */
  async byKey ({ names, keys, signal }) {
    return this.#lend(signal, async session => {
      const table = await this.#keyedTable(session)
      const { refusesNul } = this.#readable.dialect
      const possible = keys.filter(key => !refusesNul || !key.join('').includes('\0'))
      const found = []
      for (let from = 0; from < possible.length; from += KEYS_A_STATEMENT) {
        const statement = table.statement(names, possible.slice(from, from + KEYS_A_STATEMENT))
        if (statement) for (const row of await session.all(statement)) found.push(table.found(names, row))
      }
      return found
    })
  }

  /** @type {NonNullable<Reader['columns']>} */
  async columns () {
    return this.#lend(undefined, async session => {
      const columns = await session.columns()
      return columns.length === 0 ? [] : this.#statements(columns).wholeColumns
    })
  }

  /** @type {NonNullable<Reader['rows']>} */
  rows ({ pageRows = PAGE_ROWS, signal, ...range }) {
    /** @param {(page: import('../reader.js').Rows) => Promise<boolean>} give */
    const fetch = give => this.#attempt(signal, async (session, table) => {
      const { wholeColumns: columns, wholeRow } = table
      for await (const slice of slices(session, table, range)) {
        for await (const rows of session.rows(table.wholeRows({ ...range, ...slice }), pageRows)) {
          if (!await give({ columns, rows: rows.map(wholeRow) })) return
        }
      }
    })
    return handedOver(fetch)
  }

  async close () {
    await this.#readable.close?.()
  }

  /** @param {ReadSession} session */
  async #keyedTable (session) {
    if (this.#keyed && performance.now() < this.#keyedUntilMs) return this.#keyed
    this.#keyed = new KeyedTable(this.#options, this.#readable.table, await session.columns(), this.#readable.dialect)
    this.#keyedUntilMs = performance.now() + COLUMNS_VALID_MS
    return this.#keyed
  }

  /** @param {Parameters<Reader['samples']>[0]} range */
  #pages (range) {
    const { sensors, pageRows = PAGE_ROWS, signal } = range
    return handedOver((/** @type {(page: Sample[]) => Promise<boolean>} */ give) => this.#attempt(signal, async (session, table) => {
      const known = table.known(sensors)
      if (known.length === 0) return
      const pages = new Pages({ sensors, pageRows })
      const addRow = rowAdder(pages, table, known)
      const rowsAtATime = Math.ceil(pageRows / (table.isNarrow ? 1 : known.length))
      for await (const slice of slices(session, table, range)) {
        for await (const rows of session.rows(table.samples(known, { ...range, ...slice }), rowsAtATime)) {
          for (const row of rows) addRow(row)
          for (const page of pages.full()) if (!await give(page)) return
        }
      }
      for (const page of pages.rest()) if (!await give(page)) return
    }))
  }

  /** @param {Range} range */
  async * #documents (range) {
    /** @param {(rows: any[][]) => Promise<boolean>} give */
    const fetch = give => this.#attempt(range.signal, async (session, table) => {
      const { first: from } = documentRange(range, table.intervalNs)
      for await (const rows of session.rows(table.documents({ ...range, from }), DOCUMENTS_AT_A_TIME)) if (!await give(rows)) return
    })
    for await (const rows of handedOver(fetch)) {
      for (const [time, measurements] of rows) if (measurements !== null) yield { time: BigInt(time), measurements }
    }
  }

  /**
   * @template T
   * @param {AbortSignal|undefined} signal
   * @param {(session: ReadSession, table: TableStatements) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (signal, work) {
    return this.#lend(signal, async session => work(session, this.#statements(await session.columns())))
  }

  /** @param {import('./read-dialect.js').Column[]} columns */
  #statements (columns) {
    return new TableStatements(this.#options, this.#readable.table, columns, this.#readable.dialect)
  }

  /**
   * @template T
   * @param {AbortSignal|undefined} signal
   * @param {(session: ReadSession) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #lend (signal, work) {
    try {
      signal?.throwIfAborted()
      return await this.#readable.read(work, signal)
    } catch (error) {
      if (signal?.aborted || error instanceof SluiceError) throw error
      throw this.#readable.failure(error)
    }
  }
}

/** @param {TableStatements} table @param {string} sensor */
function hasNumbers (table, sensor) {
  return table.known([sensor]).length > 0 && table.hasNumbers(sensor)
}

/** @param {ReadSession} session @param {TableStatements} table @param {Times} range @param {boolean} [backwards] */
function slices (session, table, range, backwards) {
  return session.slices?.(table, range, backwards) ?? [range]
}

/** @param {Pages} pages @param {TableStatements} table @param {string[]} sensors @returns {(row: any[]) => void} */
function rowAdder (pages, table, sensors) {
  if (table.isNarrow) {
    const valueOf = table.valueColumns.map(column => table.valueOf(column))
    return row => {
      const sensor = String(row[1])
      const place = row.findIndex((cell, i) => i > 1 && cell !== null)
      // A database may treat other texts as the same sensor.
      if (place !== -1 && pages.has(sensor)) pages.add(BigInt(row[0]), sensor, valueOf[place - 2](row[place]))
    }
  }
  const valueOf = sensors.map(sensor => table.valueOf(sensor))
  return row => {
    const time = BigInt(row[0])
    for (let i = 0; i < sensors.length; i++) if (row[i + 1] !== null) pages.add(time, sensors[i], valueOf[i](row[i + 1]))
  }
}
