import { SluiceError } from '../../base/errors.js'
import { edgeOf, minimumOf, summariesOf } from '../reading/compute.js'
import { inPages } from '../reading/pages.js'
import { bytesOf, bytesText, whole } from '../reading/values.js'
import { tagColumnOf } from '../wide.js'

/**
 * The reader of every database that finds the rows of a range of time in their order, and computes nothing itself.
 *
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('../reader.js').Range} Range
 * @typedef {Record<string, any> & {time_ns: bigint}} Row
 * @typedef {{name: string, kind: string}} Column
 */

/**
 * @template {{columns: Column[]}} Facts  of the table
 * @typedef {object} Readable
 * @property {(signal?: AbortSignal) => Promise<Facts>} facts  throws SLUICE_QUERY_TABLE
 * @property {(facts: Facts, columns: string[], range: Omit<Range, 'sensors'>) => AsyncIterable<Row>} rows  in the order of time
 * @property {readonly string[]} ownNames  of columns that hold no sensor
 * @property {readonly string[]} kinds  of columns that hold samples
 * @property {string} textKind  of columns that hold tags
 * @property {(error: unknown) => SluiceError} failure  the error that users see, with this one as its cause
 */

/** The columns of narrow values, by what follows the first one's name. */
const NARROW_COLUMNS = ['', '_int64', '_string', '_bytes']

/**
 * @template {{columns: Column[]}} Facts
 * @implements {Reader}
 */
export class KeyedReader {
  #options
  #readable

  /** @param {import('../reading/table.js').TableOptions} options @param {Readable<Facts>} readable */
  constructor (options, readable) {
    this.#options = options
    this.#readable = readable
  }

  /** @type {Reader['samples']} */
  async * samples (range) {
    try {
      yield * this.#samples(range)
    } catch (error) {
      if (range.signal?.aborted) throw range.signal.reason
      throw error instanceof SluiceError ? error : this.#readable.failure(error)
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
    const facts = await this.#readable.facts(signal)
    const columns = this.#valueColumns(facts, sensors)
    const chooses = Object.entries(tags).map(([tag, values]) => this.#chooser(facts, tag, values))
    if (columns.length === 0) return
    const { layout, sensorColumn } = this.#options
    const isNarrow = layout === 'narrow'
    const shown = ['time_ns', ...isNarrow ? [sensorColumn] : [], ...columns, ...chooses.flatMap(({ column }) => column ?? [])]
    yield * inPages(this.#readable.rows(facts, [...new Set(shown)], range), (pages, row) => {
      if (!chooses.every(({ matches }) => matches(row))) return
      for (const column of columns) {
        const sensor = isNarrow ? row[sensorColumn] : column
        if (row[column] !== null && pages.has(sensor)) pages.add(row.time_ns, sensor, valueOf(row[column]))
      }
    }, range)
  }

  /** The columns that values of these sensors can be in. @param {Facts} facts @param {string[]} sensors */
  #valueColumns ({ columns }, sensors) {
    const { layout, valueColumn } = this.#options
    const { kinds, ownNames } = this.#readable
    const wanted = layout === 'narrow' ? NARROW_COLUMNS.map(end => valueColumn + end) : sensors
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

/** @param {any} value @returns {Sample['value']} */
function valueOf (value) {
  if (typeof value === 'bigint') return whole(value)
  const bytes = bytesOf(value)
  return bytes ? bytesText(bytes) : value
}
