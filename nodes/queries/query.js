import { resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isOpen } from '../../gateway/databases/duckdb/instance.js'
import { productOf, serverTypes } from '../../gateway/databases/index.js'
import { queryAsked } from '../../gateway/queries/asked.js'
import { chill, warm } from '../../gateway/queries/cold.js'
import { exportParquet } from '../../gateway/queries/parquet.js'
import { columnsOf, readResultOptions, run } from '../../gateway/queries/run.js'
import { fileName } from '../../gateway/databases/file/names.js'
import { PAGE_ROWS } from '../../gateway/databases/reading/pages.js'
import { duration, measure, quantity } from '../../gateway/stats/format.js'
import { dataDir, defineNode, failed, handlesInput, throttledStatus } from '../node.js'
import { sentence } from '../status.js'
import { Answering } from './answering.js'
import { leaseServer } from '../sinks/server-node.js'
import { fileOf, openReader } from './open-reader.js'
import { schema } from './query.schema.js'
import { serverProperty } from './reader-options.js'

/**
 * @typedef {import('../../gateway/databases/reader.js').Reader} Reader
 * @typedef {ReturnType<typeof queryAsked>} Asked
 */

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-query', schema, (node, options) => {
    const queries = new QueryNode(RED, node, options)
    handlesInput(node, (message, send) => queries.answer(message, send))
    node.on('close', (/** @type {() => void} */ done) => { queries.close().finally(done) })
  })
}

/** Answers messages in their order, so many at a time. */
class QueryNode {
  #answering
  #show

  /** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {any} options */
  constructor (RED, node, options) {
    this.RED = RED
    this.node = node
    this.options = options
    this.#answering = new Answering(options.parallel)
    this.#show = throttledStatus(node)
  }

  /** @param {any} message @param {(message: any) => void} send */
  answer (message, send) {
    return this.#answering.answer(() => this.#answer(message, send))
  }

  close () { return this.#answering.close() }

  /** @param {any} message @param {(message: any) => void} send */
  async #answer (message, send) {
    try {
      const query = queryAsked(this.options, message.query)
      if (this.options.output === 'parquet') return await this.#reading(reader => this.#export(reader, query, message, send))
      const { cache, repetitions } = readResultOptions(query)
      const runs = Array.from({ length: repetitions }, (_, repetition) => repetitions > 1 ? { repetition } : {})
      if (cache === 'warm') {
        return await this.#reading(async reader => {
          for (const its of runs) await this.#send(reader, query, { ...message, ...its, ...warm('not asked to be cold') }, send)
        })
      }
      for (const its of runs) {
        const state = await this.#chill()
        await this.#reading(reader => this.#send(reader, query, { ...message, ...its, ...state }, send))
      }
    } catch (error) {
      if (!this.#answering.signal.aborted) this.#show(failed(error, { database: productOf(this.options.database) }))
      throw error
    }
  }

  /** @param {(reader: Reader) => Promise<void>} work  with a reader of its own */
  async #reading (work) {
    const { reader, release } = await openReader(this.RED, this.node, this.options, schema)
    try {
      await work(reader)
    } finally {
      await reader.close().finally(release)
    }
  }

  async #chill () {
    const { database, restart } = this.options
    const { signal } = this.#answering
    if (database === 'duckdb' && await isOpen(fileOf(this.RED, this.options, schema))) {
      return warm('DuckDB keeps its cache while a sink or query of this gateway has the file open')
    }
    this.#show(running('emptying caches'))
    const lease = database in serverTypes ? await leaseServer(this.RED, this.options[serverProperty(database)]) : undefined
    try {
      return await chill({ restart, server: /** @type {any} */ (lease?.server), signal })
    } finally {
      lease?.release()
    }
  }

  /**
   * Sends pages of rows, the last one with the time that reading took.
   * @param {Reader} reader @param {Asked} query @param {any} message @param {(message: any) => void} send
   */
  async #send (reader, query, { cache, cacheReason, ...message }, send) {
    const result = readResultOptions(query)
    const answer = { ...message }
    delete answer.complete
    const id = this.RED.util.generateId()
    let total = 0
    let durationMs = 0
    const pages = run(reader, query, { ...result, signal: this.#answering.signal })
    for (;;) {
      const startedMs = performance.now()
      const { value, done } = await pages.next()
      durationMs += performance.now() - startedMs
      if (done) return
      const { rows, index, last, cut } = value
      total += rows.length
      const parts = {
        id,
        type: 'array',
        len: result.pageRows,
        index,
        ...last && { count: index + 1 },
        ...message.parts && { parts: message.parts }
      }
      send({ ...answer, payload: rows, parts, ...last && { complete: true, cut, durationMs, cache, cacheReason } })
      this.#show(last ? ended(total, durationMs, cut) : running(`${quantity(total)} rows`))
      const limit = result.limit.toLocaleString('en-US')
      if (cut) this.node.warn(`The query "${query.name}" ended at its limit of ${limit} rows: there are more.`)
      await nextTurn() // so that the flow can work on one page before the next
    }
  }

  /** Writes files, tells which. @param {Reader} reader @param {Asked} query @param {any} message @param {(message: any) => void} send */
  async #export (reader, query, message, send) {
    const startedMs = performance.now()
    const { table, source, folder: template } = this.options
    const names = { table, source: source || 'all', query: query.name }
    const nameIn = (/** @type {string} */ _, /** @type {keyof names} */ name) => fileName(names[name])
    const folder = resolve(dataDir(this.RED), template.replaceAll(/\{(table|source|query)\}/g, nameIn))
    const pages = run(reader, query, { signal: this.#answering.signal, limit: Infinity, pageRows: PAGE_ROWS, wholeDays: true })
    const files = await exportParquet(pages, {
      columns: columnsOf(query),
      folder,
      work: resolve(dataDir(this.RED), 'exports'),
      progress: rows => this.#show(running(`${quantity(rows)} rows read`))
    })
    const sum = (/** @type {'rows'|'bytes'} */ what) => files.reduce((total, file) => total + file[what], 0)
    const [rows, bytes] = [sum('rows'), sum('bytes')]
    send({ ...message, payload: { folder, rows, bytes, files }, complete: true })
    const written = `${quantity(rows)} rows, ${measure(bytes, 'B')} in ${files.length} ${files.length === 1 ? 'file' : 'files'}`
    this.#show({ fill: 'green', shape: 'dot', text: sentence(written, `in ${duration(performance.now() - startedMs)}`) })
  }
}

/** @param {string} text @returns {import('../node.js').Status} */
function running (text) {
  return { fill: 'blue', shape: 'dot', text }
}

/** @param {number} rows @param {number} ms @param {boolean} cut @returns {import('../node.js').Status} */
function ended (rows, ms, cut) {
  const text = `${quantity(rows)} rows in ${duration(ms)}`
  return cut ? { fill: 'yellow', shape: 'dot', text: `${text}, more left out` } : { fill: 'green', shape: 'dot', text }
}
