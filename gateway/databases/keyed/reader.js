import { describe, SluiceError } from '../../base/errors.js'
import { manyAtOnce } from '../../base/many-at-once.js'
import { MEASUREMENTS } from '../../batch/layouts.js'
import { edgeOf, minimumOf, summariesOf } from '../reading/compute.js'
import { documentRange, documentSamples } from '../reading/documents.js'
import { asIn, HIDDEN, keyColumn } from '../reading/keys.js'
import { inPages } from '../reading/pages.js'
import { bytesOf, bytesText, whole } from '../reading/values.js'
import { UPSERT } from '../upsert/layout.js'
import { tagColumnOf } from '../wide.js'

/**
 * The reader of every database that finds the rows of a range of time in their order, and computes nothing itself.
 *
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('../reader.js').Range} Range
 * @typedef {Record<string, any> & {time_ns: bigint}} Row
 * @typedef {{name: string, kind: string, isKey?: boolean}} Column
 * @typedef {import('../reader.js').KeyValue} KeyValue
 * @typedef {{from: bigint, last: bigint, signal?: AbortSignal}} Times  both included, of 64 bits
 * @typedef {{columns: Column[], layout?: string, key?: string[]}} TableFacts  `columns`: none where the table is missing; `layout`: unless
 *   its key says it; `key`: of the layout upsert
 */

/**
 * @template {TableFacts} Facts
 * @typedef {object} Readable
 * @property {string} place  what is read, for messages
 * @property {`SLUICE_QUERY_${string}`} code  of a query that fails
 * @property {string} [named]  what to check where the table is missing
 * @property {(signal?: AbortSignal) => Promise<Facts|null>} facts  null where the table is missing
 * @property {(facts: Facts, columns: string[], times: Times) => AsyncIterable<Row>} rows  in the order of time. Of the layout upsert all
 *   rows, in any order; what they have as `source` is compared with the source that is asked for
 * @property {(facts: Facts, values: KeyValue[], signal?: AbortSignal) => Promise<Row[]>} [withKey]  the rows whose columns of the key have
 *   these values, in the order of `key`, which are of the columns' kinds
 * @property {readonly string[]} ownNames  of columns that hold no sensor
 * @property {readonly string[]} kinds  of columns that hold samples
 * @property {string} textKind  of columns that hold tags
 */

/** The columns of narrow values, by what follows the first one's name. */
const NARROW_COLUMNS = ['', '_int64', '_string', '_bytes']

/** How long a table is taken to have the columns that it had: reading one row asks for nothing else. */
const FACTS_VALID_MS = 1000

const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n]

/** Looks for a key that are under way at a time. */
const KEYS_AT_ONCE = 64

/**
 * @template {TableFacts} Facts
 * @implements {Reader}
 */
export class KeyedReader {
  #options
  #readable
  /** @type {{until: number, facts: Promise<Facts>}|null} */
  #known = null
  /** @type {Reader['byKey']} */
  byKey

  /** @param {import('../reading/table.js').TableOptions} options @param {Readable<Facts>} readable */
  constructor (options, readable) {
    this.#options = options
    this.#readable = readable
    const { withKey } = readable
    if (withKey) this.byKey = asked => this.#attempt(asked.signal, () => this.#byKey(withKey, asked))
  }

  /** @type {Reader['samples']} */
  async * samples (range) {
    try {
      yield * this.#samples(range)
    } catch (error) {
      throw this.#reasonOf(error, range.signal)
    }
  }

  /** @type {Reader['summaries']} */
  summaries (range) { return summariesOf(this, range) }

  /** @type {Reader['edge']} */
  edge (range) { return edgeOf(this, range) }

  /** @type {Reader['minimum']} */
  minimum (range) { return minimumOf(this, range) }

  /** The connections are the server's. */
  async close () {}

  /** @param {Parameters<Reader['samples']>[0]} range @returns {AsyncGenerator<Sample[], void, void>} */
  async * #samples (range) {
    const { sensors, tags = {}, signal } = range
    const facts = await this.#look(signal)
    const columns = this.#valueColumns(facts, sensors)
    const chooses = Object.entries(tags).map(([tag, values]) => this.#chooser(facts, tag, values))
    if (columns.length === 0 || range.from > MOST || range.to <= LEAST) return
    const { layout, sensorColumn } = this.#options
    const isNarrow = layout === 'narrow'
    const tagColumns = chooses.flatMap(({ column }) => column ?? [])
    const isChosen = (/** @type {Row} */ row) => this.#isOfSource(row) && chooses.every(({ matches }) => matches(row))
    if (layout === 'document') {
      for await (const page of documentSamples(this.#documents(facts, tagColumns, isChosen, range), range)) {
        yield page
        signal?.throwIfAborted()
      }
      return
    }
    const shown = ['time_ns', ...isNarrow ? [sensorColumn] : [], ...columns, ...tagColumns]
    const rows = this.#readable.rows(facts, [...new Set(shown)], timesOf(range))
    yield * inPages(facts.layout === UPSERT ? inOrder(rows, isChosen, range) : rows, (pages, row) => {
      if (!isChosen(row)) return
      for (const column of columns) {
        const sensor = isNarrow ? row[sensorColumn] : column
        if (row[column] !== null && pages.has(sensor)) pages.add(row.time_ns, sensor, valueOf(row[column]))
      }
    }, range)
  }

  /** @param {Facts} facts @param {string[]} tagColumns @param {(row: Row) => boolean} isChosen @param {Range} range */
  async * #documents (facts, tagColumns, isChosen, range) {
    const { first: from } = documentRange(range, BigInt(this.#options.intervalMs) * 1_000_000n)
    for await (const row of this.#readable.rows(facts, ['time_ns', MEASUREMENTS, ...tagColumns], timesOf({ ...range, from }))) {
      if (isChosen(row) && row[MEASUREMENTS] !== null) yield { time: row.time_ns, measurements: row[MEASUREMENTS] }
    }
  }

  /**
   * @param {NonNullable<Readable<Facts>['withKey']>} withKey
   * @param {Parameters<NonNullable<Reader['byKey']>>[0]} asked
   * @returns {Promise<import('../reader.js').Found[]>}
   */
  async #byKey (withKey, { names, keys, signal }) {
    const { table } = this.#options
    const facts = await this.#facts(signal)
    const columns = names.map(name => keyColumn(name, facts.columns, this.#readable.ownNames, `"${table}"`))
    const possible = keys.map(key => key.map((value, i) => asIn(columns[i].kind, value))).filter(key => !key.includes(undefined))
    const key = columns.map(({ name }) => name)
    const order = this.#keyOf(facts, key).map(name => key.indexOf(name))
    /** @type {Row[]} */
    const found = []
    await manyAtOnce(KEYS_AT_ONCE, /** @type {KeyValue[][]} */ (possible), async values => {
      found.push(...await withKey(facts, order.map(at => values[at]), signal))
    }, signal)
    const shown = facts.columns.map(({ name }) => name).filter(name => !['time', 'time_ns', ...HIDDEN].includes(name))
    return found.filter(row => this.#isOfSource(row)).map(row => {
      const values = Object.fromEntries(shown.map(name => [name, cellOf(row[name])]))
      return { key: key.map(name => values[name]), row: { time: row.time_ns, ...values } }
    })
  }

  /** @param {AbortSignal} [signal] */
  #facts (signal) {
    if (this.#known && performance.now() < this.#known.until) return this.#known.facts
    const facts = this.#look(signal)
    this.#known = { until: performance.now() + FACTS_VALID_MS, facts }
    facts.catch(() => { this.#known = null })
    return facts
  }

  /** @param {AbortSignal} [signal] @throws {SluiceError} SLUICE_QUERY_TABLE */
  async #look (signal) {
    const { place, named = 'the table' } = this.#readable
    const facts = await this.#readable.facts(signal)
    if (!facts?.columns.length) throw unreadable(place, 'does not exist', `Check ${named}; the sink creates it with its first batch.`)
    const { layout, sensorColumn } = this.#options
    const isNarrow = facts.columns.some(({ name, isKey }) => isKey && name === sensorColumn)
    const is = facts.layout === UPSERT ? 'wide' : facts.layout ?? (isNarrow ? 'narrow' : 'wide')
    if (is !== layout) throw unreadable(place, `is of the layout ${is}`, 'Set the layout of the sink.')
    return facts
  }

  /** The columns by which rows are found. @param {Facts} facts @param {string[]} asked @throws {SluiceError} SLUICE_QUERY_TABLE */
  #keyOf ({ layout, key = [] }, asked) {
    if (layout === UPSERT && String(key.toSorted()) === String(asked.toSorted())) return key
    const what = layout === UPSERT ? `finds rows by ${key.join(', ')}, not by ${asked.join(', ')}` : 'has no key'
    throw unreadable(this.#readable.place, what, 'Set the key that the sink has, with the layout upsert.')
  }

  /** Rows of a table that has no sources are of any. @param {Row} row */
  #isOfSource (row) {
    const { source } = this.#options
    return source === '' || row.source === undefined || row.source === source
  }

  /** @template T @param {AbortSignal|undefined} signal @param {() => Promise<T>} work */
  async #attempt (signal, work) {
    try {
      signal?.throwIfAborted()
      return await work()
    } catch (error) {
      throw this.#reasonOf(error, signal)
    }
  }

  /** @param {unknown} error @param {AbortSignal} [signal] */
  #reasonOf (error, signal) {
    if (signal?.aborted) return signal.reason
    if (error instanceof SluiceError) return error
    const { code, place } = this.#readable
    return new SluiceError(code, `Cannot read ${place}: ${describe(error)}.`, { cause: error })
  }

  /** The columns that values of these sensors can be in. @param {Facts} facts @param {string[]} sensors */
  #valueColumns ({ columns }, sensors) {
    const { layout, valueColumn } = this.#options
    const { kinds, ownNames } = this.#readable
    const wanted = layout === 'document' ? [MEASUREMENTS] : layout === 'narrow' ? NARROW_COLUMNS.map(end => valueColumn + end) : sensors
    const holds = columns.filter(({ name, kind }) => kinds.includes(kind) && !ownNames.includes(name)).map(({ name }) => name)
    return sensors.length === 0 ? [] : [...new Set(wanted)].filter(name => holds.includes(name))
  }

  /** @param {Facts} facts @param {string} tag @param {(string|null)[]} values */
  #chooser ({ columns }, tag, values) {
    const { textKind } = this.#readable
    const column = [tagColumnOf(tag), tag].find(name => columns.some(each => each.name === name && each.kind === textKind))
    return { column, matches: (/** @type {Row} */ row) => values.includes(column === undefined ? null : row[column]) }
  }
}

/** Those that there can be. @param {Range} range @returns {Times} */
function timesOf ({ from, to, signal }) {
  return { from: from < LEAST ? LEAST : from, last: to > MOST ? MOST : to - 1n, signal }
}

/** @param {string} place @param {string} what @param {string} fix */
export function unreadable (place, what, fix) {
  return new SluiceError('SLUICE_QUERY_TABLE', `${place[0].toUpperCase()}${place.slice(1)} ${what}.`, { fix })
}

/**
 * Of a table that has a row for each key, and so no order of time, those that are wanted are held in memory.
 * @param {AsyncIterable<Row>} rows @param {(row: Row) => boolean} isChosen @param {Omit<Range, 'sensors'>} range
 */
async function * inOrder (rows, isChosen, { from, to, signal }) {
  const found = []
  for await (const row of rows) {
    if (row.time_ns >= from && row.time_ns < to && isChosen(row)) found.push(row)
    signal?.throwIfAborted()
  }
  yield * found.sort((a, b) => a.time_ns < b.time_ns ? -1 : a.time_ns > b.time_ns ? 1 : 0)
}

/** Of a whole row. @param {any} value */
function cellOf (value) {
  return typeof value === 'bigint' ? whole(value) : bytesOf(value) ?? value ?? null
}

/** @param {any} value @returns {Sample['value']} */
function valueOf (value) {
  if (typeof value === 'bigint') return whole(value)
  const bytes = bytesOf(value)
  return bytes ? bytesText(bytes) : value
}
