import { SluiceError } from '../../gateway/errors.js'
import { gates } from '../../gateway/flow/gates.js'
import { quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { defineNode, fail, handlesInput, logOf, throttledStatus } from '../node.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 *
 * @typedef {object} SourceContext
 * @property {(batch: Batch) => void} emit
 * @property {() => boolean} held  what is downstream is full
 * @property {import('../../gateway/sinks/sink.js').Log} log
 * @property {(error?: unknown) => void} onEnd  the source has given all it had, or failed
 *
 * @typedef {{counters: Record<string, number>, close: () => unknown}} RunningSource
 */

const STATUS_INTERVAL_MS = 1000

/** What each message's payload asks for. */
const COMMANDS = new Map(/** @type {[unknown, 'start'|'stop'][]} */ ([[true, 'start'], ['start', 'start'], [false, 'stop'], ['stop', 'stop']]))

/**
 * Defines a node that runs a source: it sends each batch as `msg.payload`, with the source's name as `msg.topic`.
 * @param {import('../node.js').RED} RED
 * @param {string} type
 * @param {object} schema
 * @param {(options: any, context: SourceContext) => RunningSource|Promise<RunningSource>} open
 */
export function defineSource (RED, type, schema, open) {
  defineNode(RED, type, schema, (node, options) => {
    const show = throttledStatus(node)
    const runner = new Runner(node, show, context => open(options, context))
    const commands = { start: () => runner.start(), stop: () => runner.stop() }

    handlesInput(node, ({ payload }) => {
      const command = COMMANDS.get(payload)
      if (!command) throw new SluiceError('SLUICE_SOURCE_COMMAND', `Cannot do ${JSON.stringify(payload) ?? 'nothing'}.`, { fix: 'Send true or "start", false or "stop" as payload.' })
      return commands[command]()
    })
    node.on('close', (/** @type {() => void} */ done) => runner.stop().catch(error => node.error(error)).finally(done))

    if (options.autostart) return runner.start()
    show({ fill: 'grey', shape: 'ring', text: 'stopped' })
  })
}

/** Starts and stops one source, one command after the other, and shows how it is doing. */
class Runner {
  #node
  #show
  #open
  /** @type {RunningSource|null} */
  #source = null
  /** @type {NodeJS.Timeout|undefined} */
  #timer
  #turn = Promise.resolve()
  /** what of the source's counters is in the meter */
  #counted = { missed: 0, late: 0, unreadable: 0 }

  /** @param {import('../node.js').Node} node @param {(status: import('../node.js').Status) => void} show @param {(context: SourceContext) => RunningSource|Promise<RunningSource>} open */
  constructor (node, show, open) {
    this.#node = node
    this.#show = show
    this.#open = open
    this.meter = stats.meter('source', node.name || node.type)
  }

  start () {
    return this.#next(async () => {
      if (this.#source) return
      const { meter } = this
      const before = meter.rows
      this.#source = await this.#open({
        emit: batch => {
          meter.record(batch)
          this.#node.send({ topic: batch.source, payload: batch, sluiceSource: this.#node.id })
        },
        held: () => gates.isHeld(this.#node.id),
        log: logOf(this.#node),
        onEnd: error => this.#next(() => this.#ended(error, meter.rows - before)).catch(problem => fail(this.#node, problem))
      })
      this.#showProgress()
    })
  }

  stop () {
    return this.#next(async () => {
      await this.#close()
      this.#show({ fill: 'grey', shape: 'ring', text: 'stopped' })
    })
  }

  /** @param {unknown} error @param {number} rows */
  async #ended (error, rows) {
    if (!this.#source) return
    await this.#close()
    if (error) fail(this.#node, error)
    else this.#show({ fill: 'grey', shape: 'dot', text: `finished, ${rows.toLocaleString('en-US')} rows${this.#losses}` })
  }

  async #close () {
    clearInterval(this.#timer)
    const source = this.#source
    if (!source) return
    this.#source = null
    await source.close()
    this.#countLosses(source)
  }

  #showProgress () {
    const source = /** @type {RunningSource} */ (this.#source)
    this.#counted = { missed: 0, late: 0, unreadable: 0 }
    let last = { rows: this.meter.rows, atMs: performance.now() }
    this.#timer = setInterval(() => {
      this.#countLosses(source)
      const now = { rows: this.meter.rows, atMs: performance.now() }
      const rowsPerSecond = (now.rows - last.rows) / (now.atMs - last.atMs) * 1000
      last = now
      this.#show(gates.isHeld(this.#node.id)
        ? { fill: 'yellow', shape: 'ring', text: `held: stage out takes no more${this.#losses}` }
        : { fill: 'green', shape: 'dot', text: `${count(rowsPerSecond)} rows/s${this.#losses}` })
    }, STATUS_INTERVAL_MS)
  }

  /** Brings the meter up to what the source has counted. @param {RunningSource} source */
  #countLosses ({ counters: { missed = 0, late = 0, badLines = 0, undecodable = 0 } }) {
    const unreadable = badLines + undecodable
    this.meter.missed += missed - this.#counted.missed
    this.meter.late += late - this.#counted.late
    this.meter.errors += unreadable - this.#counted.unreadable
    this.#counted = { missed, late, unreadable }
  }

  /** As a status tells them: ", 12 missed, 3 late". */
  get #losses () {
    return Object.entries(this.#counted).filter(([, rows]) => rows > 0).map(([what, rows]) => `, ${count(rows)} ${what}`).join('')
  }

  /** @param {() => Promise<void>} step */
  #next (step) {
    const turn = this.#turn.then(step)
    this.#turn = turn.catch(() => {})
    return turn
  }
}

/** Three digits: "12.3 k". @param {number} rows */
function count (rows) {
  return quantity(rows).trim()
}
