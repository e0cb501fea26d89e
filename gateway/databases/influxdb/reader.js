import { edgeOf, inOrder, minimumOf, needSamples, poolable, pooled, summariesOf, summary } from '../reading/compute.js'
import { readerOptions } from '../reading/options.js'
import { inPages, PAGE_ROWS } from '../reading/pages.js'
import { whole } from '../reading/values.js'
import { tagColumnOf } from '../wide.js'
import { statisticsIn, Statements } from './reader-influxql.js'
import { dialect } from './dialect.js'
import { schema } from './reader.schema.js'
import { rowsOf } from './connection.js'

export { schema }

/**
 * @typedef {import('../reader.js').Reader} Reader
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {import('../reader.js').WantedTags} WantedTags
 * @typedef {import('../../messages/codecs/line-protocol/kinds.js').FieldKind} FieldKind
 * @typedef {Map<string, FieldKind>} Fields  of the measurement, or those of it that hold narrow values
 */

/** The fields of narrow values, by what follows the first one's name. */
const NARROW_FIELDS = ['', '_int64', '_string', '_bytes']

/**
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server?: any}} context  `server`: an InfluxdbServer
 * @returns {Promise<Reader>}
 */
export async function open (options, { server }) {
  return new InfluxdbReader(readerOptions(schema, options), server)
}

/** @implements {Reader} */
class InfluxdbReader {
  #options
  #server
  #statements

  /** @param {import('./reader-influxql.js').ReaderOptions} options @param {import('./connection.js').InfluxdbServer} server */
  constructor (options, server) {
    this.#options = options
    this.#server = server
    this.#statements = new Statements(options)
  }

  /** @type {Reader['samples']} */
  async * samples (range) {
    const { sensors, pageRows = PAGE_ROWS, signal } = range
    const fields = await this.#fields(sensors, signal)
    const known = this.#isNarrow ? sensors.filter(isTagValue) : [...fields.keys()]
    const tags = await this.#tags(range)
    if (known.length === 0 || fields.size === 0 || tags === null) return
    const names = [...fields.keys()]
    const kinds = [...fields.values()]
    const asked = { ...range, tags }
    const statement = this.#isNarrow ? this.#statements.narrowSamples(names, known, asked) : this.#statements.wideSamples(names, asked)
    const rows = Math.ceil(pageRows / (this.#isNarrow ? 1 : names.length))
    yield * inPages(this.#chunks(statement, { rows, signal }), (pages, values) => {
      for (const row of values) {
        const first = this.#isNarrow ? 2 : 1
        for (let f = 0; f < names.length; f++) {
          const value = row[first + f]
          if (value !== null) pages.add(BigInt(row[0]), this.#isNarrow ? row[1] : names[f], valueOf(value, kinds[f]))
        }
      }
    }, range)
  }

  /** Those of all times: the server lists them from its index. @type {NonNullable<Reader['sensors']>} */
  async sensors ({ signal }) {
    const statement = this.#isNarrow ? this.#statements.sensorValues() : this.#statements.fieldTypes()
    return rowsOf(await this.#server.query(statement, { signal })).map(({ fieldKey, value }) => fieldKey ?? value)
  }

  /** Fields, and tags of the kind `tag`. @type {NonNullable<Reader['columns']>} */
  async columns () {
    const fields = rowsOf(await this.#server.query(this.#statements.fieldTypes()))
    const tags = rowsOf(await this.#server.query(this.#statements.tagKeys()))
    return [
      ...fields.map(({ fieldKey, fieldType }) => ({ name: fieldKey, kind: fieldType })),
      ...tags.filter(({ tagKey }) => !dialect.ownNames.includes(tagKey)).map(({ tagKey }) => ({ name: tagKey, kind: 'tag' }))
    ]
  }

  /** @type {Reader['summaries']} */
  async summaries (range) {
    const { sensors, statistics, together = false, signal } = range
    if (needSamples(statistics)) return summariesOf(this, range)
    if (together) return pooled(await this.summaries({ ...range, together: false, statistics: poolable(statistics) }), statistics)
    const fields = await this.#fields(sensors, signal)
    const numbers = numericOf(fields)
    const known = this.#isNarrow ? sensors.filter(isTagValue) : numbers
    /** @type {Map<string, import('../reader.js').Summary>} */
    const found = new Map()
    // What the server cannot compute: booleans, and sensors with values in several fields.
    const others = new Set([...fields].flatMap(([name, kind]) => kind === 'boolean' ? [name] : []))
    const wanted = await this.#tags(range)
    if (numbers.length > 0 && known.length > 0 && wanted !== null) {
      const statement = this.#statements.summaries(numbers, { ...range, tags: wanted }, this.#isNarrow ? known : undefined)
      for (const { tags, values } of await this.#server.query(statement, { signal })) {
        for (const row of values) {
          const time = range.bucketNs === undefined ? range.from : BigInt(row[0])
          for (const [f, field] of numbers.entries()) {
            const computed = statisticsIn(row, f)
            if (!computed.count) continue
            const sensor = this.#isNarrow ? String(tags?.[this.#options.sensorColumn]) : field
            if (found.has(`${time} ${sensor}`)) others.add(sensor)
            found.set(`${time} ${sensor}`, summary(time, sensor, computed, statistics))
          }
        }
      }
    }
    const summaries = [...found.values()].filter(({ sensor }) => !others.has(sensor))
    if (others.size > 0) summaries.push(...await summariesOf(this, { ...range, sensors: [...others] }))
    return inOrder(summaries, sensors)
  }

  /** @type {Reader['edge']} */
  async edge (range) {
    const { above = Infinity, below = -Infinity, last = false } = range
    if (above === Infinity && below === -Infinity) return null
    const times = await this.#timesIn(range, (field, tags, sensors) =>
      this.#statements.edge(field, { ...range, tags, above, below, last }, sensors))
    if (times === null) return edgeOf(this, range)
    /** @type {bigint|null} */
    let best = null
    for (const [time] of times) if (best === null || (last ? time > best : time < best)) best = time
    return best
  }

  /** @type {Reader['minimum']} */
  async minimum (range) {
    const times = await this.#timesIn(range, (field, tags, sensors) => this.#statements.minimum(field, { ...range, tags }, sensors))
    if (times === null) return minimumOf(this, range)
    const [least] = times.sort(([timeA, a], [timeB, b]) => a < b ? -1 : a > b ? 1 : timeA < timeB ? -1 : 1)
    return least?.[0] ?? null
  }

  /** The connections are the server's. */
  async close () {}

  get #isNarrow () { return this.#options.layout === 'narrow' }

  /**
   * What a statement for each field of numbers finds.
   * @param {Parameters<Reader['minimum']>[0]} range
   * @param {(field: string, tags: WantedTags, sensors?: string[]) => string} statement
   * @returns {Promise<[time: bigint, value: number|bigint][]|null>} null where the server has no such functions for the sensor's values
   */
  async #timesIn (range, statement) {
    const { sensor, signal } = range
    const fields = await this.#fields([sensor], signal)
    if (!this.#isNarrow && fields.get(sensor) === 'boolean') return null
    if (this.#isNarrow && !isTagValue(sensor)) return []
    const tags = await this.#tags(range)
    if (tags === null) return []
    const sensors = this.#isNarrow ? [sensor] : undefined
    const found = await Promise.all(numericOf(fields).map(field => this.#server.query(statement(field, tags, sensors), { signal })))
    return found.flat().flatMap(({ values }) => values).map(([time, value]) => [BigInt(time), value])
  }

  /** The fields to read. @param {string[]} sensors @param {AbortSignal} [signal] @returns {Promise<Fields>} */
  async #fields (sensors, signal) {
    signal?.throwIfAborted()
    const listed = rowsOf(await this.#server.query(this.#statements.fieldTypes(), { signal }))
    const kinds = new Map(listed.map(({ fieldKey, fieldType }) => [fieldKey, fieldType]))
    const wanted = this.#isNarrow ? NARROW_FIELDS.map(end => this.#options.valueColumn + end) : sensors
    return new Map(wanted.flatMap(name => kinds.has(name) ? [[name, kinds.get(name)]] : []))
  }

  /**
   * The tags by which to choose, as the measurement calls them; null where no point has those wanted.
   * @param {{tags?: WantedTags, signal?: AbortSignal}} range
   * @returns {Promise<WantedTags|null>}
   */
  async #tags ({ tags = {}, signal }) {
    if (Object.keys(tags).length === 0) return tags
    const listed = new Set(rowsOf(await this.#server.query(this.#statements.tagKeys(), { signal })).map(({ tagKey }) => tagKey))
    /** @type {WantedTags} */
    const found = {}
    for (const [tag, values] of Object.entries(tags)) {
      const name = [tagColumnOf(tag), tag].find(each => listed.has(each))
      const possible = values.filter(value => value === null || (name !== undefined && !value.includes('\0')))
      if (possible.length === 0) return null
      if (name !== undefined) found[name] = possible
    }
    return found
  }

  /** @param {string} statement @param {{rows: number, signal?: AbortSignal}} options @returns {AsyncGenerator<any[][], void, void>} */
  async * #chunks (statement, options) {
    const response = await this.#server.queryChunks(statement, options)
    try {
      let text = ''
      for await (const piece of response.setEncoding('utf8')) {
        const lines = (text + piece).split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) for (const { values } of this.#server.series(line)) yield values
      }
    } finally {
      response.destroy()
    }
  }
}

/** Whether a tag can have that value: an empty one is no tag. @param {string} text */
function isTagValue (text) {
  return text !== '' && !text.includes('\0')
}

/** @param {Fields} fields */
function numericOf (fields) {
  return [...fields].flatMap(([name, kind]) => kind === 'float' || kind === 'integer' ? [name] : [])
}

/** @param {any} value  as the answer has it @param {FieldKind} kind @returns {Sample['value']} */
function valueOf (value, kind) {
  if (kind === 'float') return Number(value)
  return typeof value === 'bigint' ? whole(value) : value
}
