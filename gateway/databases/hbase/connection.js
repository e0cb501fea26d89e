import { setTimeout as sleep } from 'node:timers/promises'
import { withDefaults } from '../../base/defaults.js'
import { Turns } from '../../base/turns.js'
import { orAborted, testInTime } from '../connecting/limits.js'
import { plainTextAdvice } from '../connecting/tls.js'
import { basicLogin, HttpClient } from '../http.js'
import { explained, reasonIn, statusOf } from './answers.js'
import { decodeJsonRows, decodeRows, encodeRows, PROTOBUF } from './cells.js'
import { schema } from './connection.schema.js'

export { schema }

/**
 * @typedef {import('./cells.js').FoundRow} FoundRow
 *
 * @typedef {object} HbaseOptions
 * @property {string} host
 * @property {number} port
 * @property {string} database
 * @property {string} user
 * @property {string} password
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {number} connections
 */

const JSON_TYPE = 'application/json'

/** A REST server waits for its cluster for long. */
const SILENCE_MS = 60_000

/** Of an answer. */
const PAGE_CELLS = 20_000

/** The answers of a table that is closed: another changes it, or its server has just started again. */
const CLOSED = [500, 503]
/** Those of a scanner whose table is closed, or whose server has died, or that nobody has asked for too long. */
const LOST_SCANNER = [404, 410, ...CLOSED]
/** For so long, at least, a table is taken to be closed for a moment only. */
const PATIENCE_MS = 5000
const PAUSE_MS = 200

/** Behind a key: the next one that there can be. */
const NEXT = Buffer.from([0])

/** @param {Record<string, unknown>} options  see the schema */
export function connect (options) {
  return new HbaseServer(/** @type {HbaseOptions} */ (withDefaults(schema, options)))
}

/** One REST server, and a namespace. Each error says which server, and what to do. */
export class HbaseServer {
  #options
  /** @type {HttpClient|null} */
  #client = null
  /** By table. @type {Map<string, Turns>} */
  #shaping = new Map()

  /** @param {HbaseOptions} options */
  constructor (options) {
    this.#options = options
  }

  /** For messages. */
  get place () { return `HBase at ${this.#options.host}:${this.#options.port}, namespace "${this.#options.database}"` }

  /** Stores rows, each whole or not at all. @param {string} table @param {Buffer} rows  encoded @param {AbortSignal} [signal] */
  async put (table, rows, signal) {
    // The rows are those of the body, whatever the path says.
    await this.#ask({ method: 'PUT', path: this.#path(table, 'rows'), headers: { 'content-type': PROTOBUF }, body: [rows], signal })
  }

  /**
   * Leaves a cell where there is none. The server compares with the last cell given, and takes an empty value for none.
   * @param {string} table @param {Buffer} key @param {Buffer} column @param {Buffer} value
   */
  async putIfMissing (table, key, column, value) {
    const body = [encodeRows([{ key, cells: [[column, value], [column, Buffer.alloc(0)]] }])]
    const path = `${this.#path(table, 'row')}?check=put`
    try {
      await this.#onceOpen(table, () => this.#ask({ method: 'PUT', path, headers: { 'content-type': PROTOBUF }, body }))
    } catch (error) {
      if (statusOf(error) !== 304) throw error
    }
  }

  /** @param {string} table @param {string} key  of ASCII letters */
  async remove (table, key) {
    await this.#ask({ method: 'DELETE', path: this.#path(table, encodeURIComponent(key)) })
  }

  /**
   * Rows whose keys are texts of ASCII letters, from one key up to another, in their order.
   * @param {string} table @param {{from: string, to: string, limit?: number}} range @param {AbortSignal} [signal]
   * @returns {Promise<FoundRow[]>}
   */
  async rows (table, { from, to, limit }, signal) {
    const query = new URLSearchParams({ startrow: from, endrow: to, ...limit !== undefined && { limit: String(limit) } })
    // As Protocol Buffers, the server would send pieces without saying how long each is.
    const path = `${this.#path(table, '*')}?${query}`
    const answer = await this.#onceOpen(table, () => this.#ask({ method: 'GET', path, headers: { accept: JSON_TYPE }, signal }), signal)
    return decodeJsonRows(answer.toString())
  }

  /**
   * Rows from one key up to another, in their order, page by page; all unless keys are given. Where a region is away for longer than the
   * REST server tries, it says that there are no more: this is believed once all regions answer, and another scanner finds none.
   * @param {string} table @param {{from?: Buffer, to?: Buffer, columns?: Buffer[]}} range @param {AbortSignal} [signal]
   * @returns {AsyncGenerator<FoundRow[], void, void>}
   */
  async * scan (table, { from, ...range }, signal) {
    let hasAnswered = false
    for (let untilMs = patience(); ;) {
      try {
        for await (const page of this.#scanOnce(table, { from, ...range }, signal)) {
          yield page
          from = Buffer.concat([page[page.length - 1].key, NEXT])
          untilMs = patience()
          hasAnswered = false
        }
        if (hasAnswered) return
        await this.#reach(table, from ?? NEXT, range.to, signal)
        hasAnswered = true
      } catch (error) {
        await this.#pause(table, { error, statuses: LOST_SCANNER, untilMs, signal })
      }
    }
  }

  /**
   * Asks every region that may have rows from one key up to another.
   * @param {string} table @param {Buffer} from @param {Buffer|undefined} to @param {AbortSignal} [signal]
   */
  async #reach (table, from, to, signal) {
    const { Region: regions } = JSON.parse(String(await this.#ask({
      method: 'GET', path: this.#path(table, 'regions'), headers: { accept: JSON_TYPE }, signal
    })))
    for (const region of regions) {
      const [start, end] = [region.startKey, region.endKey].map(key => Buffer.from(key, 'base64'))
      if ((to && start.compare(to) >= 0) || (end.length > 0 && end.compare(from) <= 0)) continue
      const key = (start.compare(from) > 0 ? start : from).toString('base64url')
      const path = `${this.#path(table, key)}?e=b64`
      await this.#ask({ method: 'GET', path, headers: { accept: PROTOBUF }, signal }).catch(error => {
        if (statusOf(error) !== 404) throw error // no row has this key
      })
    }
  }

  /** @param {string} table @param {{from?: Buffer, to?: Buffer, columns?: Buffer[]}} range @param {AbortSignal} [signal] */
  async * #scanOnce (table, { from, to, columns = [] }, signal) {
    const scanner = {
      batch: PAGE_CELLS, caching: PAGE_CELLS, maxVersions: 1, column: columns.map(column => column.toString('base64')),
      ...from && { startRow: from.toString('base64') }, ...to && { endRow: to.toString('base64') }
    }
    const { headers } = await this.#answerOf({
      method: 'PUT', path: this.#path(table, 'scanner'), headers: { 'content-type': JSON_TYPE }, body: [JSON.stringify(scanner)], signal
    })
    const { pathname: path } = new URL(String(headers.location), 'http://server')
    /** @type {FoundRow[]} the last one, of which the next page may have more cells */
    let rest = []
    try {
      for (;;) {
        const page = decodeRows(await this.#ask({ method: 'GET', path, headers: { accept: PROTOBUF }, signal }))
        if (page.length === 0) break
        const [last] = rest
        if (last?.key.equals(page[0].key)) page[0].cells.unshift(...last.cells)
        else page.unshift(...rest)
        rest = page.splice(-1)
        if (page.length > 0) yield page
      }
      if (rest.length > 0) yield rest
    } finally {
      await this.#ask({ method: 'DELETE', path }).catch(() => {}) // the server forgets it by itself
    }
  }

  /** What is known of a table; null where there is none. @param {string} table @param {AbortSignal} [signal] @returns {Promise<any>} */
  async schemaOf (table, signal) {
    return this.#json(this.#path(table, 'schema'), signal)
  }

  /**
   * Gives a table its families, as they are to be by what is known of it: null where there is nothing to do. The server closes a table
   * that it changes, and leaves it closed when it is killed then: so only where something is to be changed, and by one sink at a time.
   * @param {string} table @param {(schema: any) => Record<string, unknown>[]|null} familiesIn  of null where there is no table
   */
  async shape (table, familiesIn) {
    const turns = this.#shaping.get(table) ?? new Turns(1)
    this.#shaping.set(table, turns)
    await turns.run(async () => {
      const families = familiesIn(await this.schemaOf(table))
      if (families === null) return
      const body = [JSON.stringify({ name: this.#nameOf(table), ColumnSchema: families })]
      const work = this.#ask({ method: 'POST', path: this.#path(table, 'schema'), headers: { 'content-type': JSON_TYPE }, body })
      await unlessDone(work, async () => familiesIn(await this.schemaOf(table)) === null)
    })
  }

  /** @param {string} table */
  async drop (table) {
    await this.#ask({ method: 'DELETE', path: this.#path(table, 'schema') })
  }

  async createNamespace () {
    if (await this.#hasNamespace()) return
    const path = `/namespaces/${this.#options.database}`
    const work = this.#ask({ method: 'POST', path, headers: { 'content-type': JSON_TYPE }, body: ['{}'] })
    await unlessDone(work, () => this.#hasNamespace())
  }

  /** Of the namespace. @returns {Promise<string[]>} */
  async tables () {
    if (!await this.#hasNamespace()) return []
    const { table = [] } = await this.#json(`/namespaces/${this.#options.database}/tables`) ?? {}
    return table.map((/** @type {{name: string}} */ { name }) => name.slice(name.indexOf(':') + 1))
  }

  /** @param {{signal?: AbortSignal}} [options] */
  async test ({ signal } = {}) {
    return testInTime(this.place, signal, async ends => {
      const { Version: version = 'unknown' } = await this.#json('/version/cluster', ends) ?? {}
      const { LiveNodes: live = [], DeadNodes: dead = [] } = await this.#json('/status/cluster', ends) ?? {}
      const { user, database } = this.#options
      const nodes = (live.length === 1 ? 'one region server' : `${live.length} region servers`) +
        (dead.length > 0 ? `, ${dead.length} dead` : '')
      const isThere = await this.#hasNamespace(ends)
      return [
        `HBase ${version}, ${nodes}, namespace "${database}"${user && `, logged in as "${user}"`}.`,
        isThere ? '' : 'The namespace does not exist: the sink will try to create it.',
        plainTextAdvice(this.#options)
      ].filter(sentence => sentence !== '').join(' ')
    })
  }

  async close () {
    this.#client?.close()
    this.#client = null
  }

  /** @param {string} table */
  #nameOf (table) { return `${this.#options.database}:${table}` }

  /** @param {string} table @param {string} rest */
  #path (table, rest) { return `/${encodeURIComponent(this.#nameOf(table))}/${rest}` }

  /** @param {import('../http.js').Request} request @returns {Promise<Buffer>} */
  async #ask (request) {
    return (await this.#answerOf(request)).body
  }

  /**
   * Asks again while the table is closed.
   * @template T @param {string|null} table @param {() => Promise<T>} ask @param {AbortSignal} [signal] @returns {Promise<T>}
   */
  async #onceOpen (table, ask, signal) {
    for (const untilMs = patience(); ;) {
      try {
        return await ask()
      } catch (error) {
        await this.#pause(table, { error, statuses: CLOSED, untilMs, signal })
      }
    }
  }

  /**
   * Of a table that is not there, the server says the same as of one that is closed.
   * @param {string|null} table @param {{error: unknown, statuses: number[], untilMs: number, signal?: AbortSignal}} met
   */
  async #pause (table, { error, statuses, untilMs, signal }) {
    if (!statuses.includes(statusOf(error) ?? 0) || performance.now() > untilMs) throw error
    if (table !== null && await this.schemaOf(table, signal) === null) throw error
    const client = this.#client
    await orAborted(sleep(PAUSE_MS), signal)
    if (client !== this.#client) throw error // closed meanwhile
  }

  /** @param {AbortSignal} [signal] */
  async #hasNamespace (signal) {
    const { Namespace: names = [] } = await this.#json('/namespaces', signal) ?? {}
    return names.includes(this.#options.database)
  }

  /** @param {string} path @param {AbortSignal} [signal] */
  async #json (path, signal) {
    try {
      const request = () => this.#ask({ method: 'GET', path, headers: { accept: JSON_TYPE }, signal })
      return JSON.parse(String(await this.#onceOpen(null, request, signal)))
    } catch (error) {
      if (statusOf(error) !== 404) throw error
      return null
    }
  }

  /** @param {import('../http.js').Request} request */
  async #answerOf (request) {
    const { user, password } = this.#options
    this.#client ??= new HttpClient({
      ...this.#options, authorization: user === '' ? '' : basicLogin(user, password), silenceMs: SILENCE_MS, repeats: true, reasonIn
    })
    try {
      const response = await this.#client.open(request)
      return { headers: response.headers, body: Buffer.concat(await response.toArray()) }
    } catch (error) {
      if (request.signal?.aborted) throw request.signal.reason
      throw explained(error, { place: this.place, user, password, path: request.path })
    }
  }
}

/** What fails, as another has just done it. @param {Promise<unknown>} work @param {() => Promise<boolean>} isDone */
async function unlessDone (work, isDone) {
  try {
    await work
  } catch (error) {
    if (!await isDone()) throw error
  }
}

/** When a table has been closed for too long to be closed for a moment. */
function patience () {
  return performance.now() + PATIENCE_MS
}
