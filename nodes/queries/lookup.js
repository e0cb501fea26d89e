import { Batch } from '../../gateway/batch/batch.js'
import { formatTime } from '../../gateway/batch/time.js'
import { productOf } from '../../gateway/databases/index.js'
import { keysAsked, lookUp } from '../../gateway/queries/lookup.js'
import { quantity } from '../../gateway/stats/format.js'
import { defineNode, failed, handlesInput, throttledStatus } from '../node.js'
import { Answering } from './answering.js'
import { schema } from './lookup.schema.js'
import { openReader } from './open-reader.js'

/** How long a reader that nobody needs stays open: opening one takes longer than reading a row. */
const IDLE_MS = 1000

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-lookup', schema, (node, options) => {
    const lookup = new LookupNode(RED, node, options)
    handlesInput(node, (message, send) => lookup.answer(message, send))
    node.on('close', (/** @type {() => void} */ done) => { lookup.close().finally(done) })
  })
}

class LookupNode {
  #answering
  #show
  /** @type {ReturnType<typeof openReader>|null} */
  #opened = null
  #uses = 0
  #hasFailed = false
  /** @type {NodeJS.Timeout|undefined} */
  #idle

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
    return this.#answering.answer(async () => {
      try {
        const { key, times } = this.options
        const keys = keysAsked(message.payload, key)
        const startedMs = performance.now()
        const rows = await this.#use(reader => lookUp(reader, key, keys, this.#answering.signal))
        const durationMs = performance.now() - startedMs
        const shown = rows.map(row => row && { ...row, time: times === 'iso' ? formatTime(row.time) : row.time })
        const isOne = !Array.isArray(message.payload) && !(message.payload instanceof Batch)
        send({ ...message, stored: isOne ? shown[0] : shown, durationMs })
        const found = rows.filter(row => row !== null).length
        this.#show({ fill: 'green', shape: 'dot', text: `${quantity(found)} of ${quantity(rows.length)} found` })
      } catch (error) {
        if (!this.#answering.signal.aborted) this.#show(failed(error, { database: productOf(this.options.database) }))
        throw error
      }
    })
  }

  async close () {
    await this.#answering.close()
    await this.#shut()
  }

  /** @template T @param {(reader: import('../../gateway/databases/reader.js').Reader) => Promise<T>} work */
  async #use (work) {
    this.#uses++
    clearTimeout(this.#idle)
    try {
      const { reader } = await (this.#opened ??= openReader(this.RED, this.node, this.options, schema))
      return await work(reader)
    } catch (error) {
      this.#hasFailed = true
      throw error
    } finally {
      if (--this.#uses === 0) {
        if (this.#hasFailed) await this.#shut()
        else this.#idle = setTimeout(() => { this.#shut().catch(error => this.node.error(error)) }, IDLE_MS)
      }
    }
  }

  async #shut () {
    clearTimeout(this.#idle)
    const opened = this.#opened
    this.#opened = null
    this.#hasFailed = false
    const { reader, release } = await opened?.catch(() => null) ?? {}
    await reader?.close().finally(release)
  }
}
