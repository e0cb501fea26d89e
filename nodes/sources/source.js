import { wallClock } from '../../gateway/clock/system-clock.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { Restamper } from '../../gateway/clock/restamper.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { backpressure } from '../../gateway/flow/backpressure.js'
import { quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { onFlows } from '../flow-events.js'
import { defineNode, fail, failClosing, handlesInput, logOf, throttledStatus } from '../node.js'
import { lossesText } from './losses.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 *
 * @typedef {import('../../gateway/sources/source.js').SourceContext} SourceContext
 * @typedef {import('../../gateway/sources/source.js').Source} Source
 *
 * @typedef {{type: 'full'|'flows'|'nodes', diff: Record<string, unknown>}} Stopping  what Node-RED is about to stop: `diff` has lists of
 *   ids
 */

const NOTHING = { missed: 0, late: 0, unreadable: 0, failed: 0 }

/** What each message's payload asks for. */
const COMMANDS = new Map(/** @type {[unknown, 'start'|'stop'][]} */ ([
  [true, 'start'], ['start', 'start'], [false, 'stop'], ['stop', 'stop']
]))

/**
 * Defines a node that runs a source: it sends each batch as `msg.payload`, with the source's name as `msg.topic`.
 * @param {import('../node.js').RED} RED
 * @param {string} type
 * @param {object} schema
 * @param {(options: any, context: SourceContext) => Source|Promise<Source>} open
 */
export function defineSource (RED, type, schema, open) {
  defineNode(RED, type, schema, (node, options) => {
    const show = throttledStatus(node)
    const runner = new Runner(node, show, context => open(options, context))
    const commands = { start: () => runner.start(), stop: () => runner.stop() }

    handlesInput(node, ({ payload }) => {
      const command = COMMANDS.get(payload)
      if (command) return commands[command]()
      throw new SluiceError('SLUICE_SOURCE_COMMAND', `Cannot do ${JSON.stringify(payload) ?? 'nothing'}.`, {
        fix: 'Send true or "start", false or "stop" as payload.'
      })
    })
    const stopListening = onFlows(RED, 'flows:stopping', stopping => { if (isStopped(node, stopping)) runner.releaseWaiting() })
    node.on('close', (/** @type {() => void} */ done) => {
      stopListening()
      runner.close().catch(error => failClosing(RED, node, error)).finally(done)
    })

    if (options.autostart) return runner.start()
    show({ fill: 'grey', shape: 'ring', text: 'stopped' })
  })
}

/** @param {import('../node.js').Node} node @param {Stopping} stopping */
function isStopped ({ id, z: tab }, { type, diff }) {
  return type === 'full' || Object.values(diff).some(ids => Array.isArray(ids) && (ids.includes(id) || ids.includes(tab)))
}

/** Starts and stops one source, one command after the other, and shows its state. */
class Runner {
  #node
  #show
  #open
  /** @type {Source|null} */
  #source = null
  #stopShowing = () => {}
  #turn = Promise.resolve()
  /** how much of the source's counters is in the meter */
  #counted = { ...NOTHING }
  /** Outlives the source: what waits for the clock still waits when the source has ended. */
  #restamper
  #dropGauge = () => {}

  /**
   * @param {import('../node.js').Node} node
   * @param {(status: import('../node.js').Status) => void} show
   * @param {(context: SourceContext) => Source|Promise<Source>} open
   */
  constructor (node, show, open) {
    this.#node = node
    this.#show = show
    this.#open = open
    this.meter = stats.meter('source', node.name || node.type)
    this.#restamper = new Restamper(wallClock, batch => this.#send(batch))
  }

  start () {
    return this.#next(async () => {
      if (this.#source) return
      wallClock.start()
      let rows = 0
      try {
        this.#source = await this.#open({
          emit: (batch, { recorded = false } = {}) => {
            rows += batch.rows
            if (recorded) this.#send(batch)
            else this.#restamper.take(batch)
          },
          isPaused: () => backpressure.isPaused(this.#node.id),
          log: logOf(this.#node),
          onEnd: error => this.#next(() => this.#ended(error, rows)).catch(problem => this.#fail(problem))
        })
      } catch (error) {
        this.#showFailure(error)
        throw error
      }
      if (this.#source.gauge) this.#dropGauge = stats.gauge(`source ${this.#node.name || this.#node.type}`, this.#source.gauge)
      this.#showProgress(this.#source)
    })
  }

  stop () {
    return this.#next(async () => {
      await this.#close()
      this.#show({ fill: 'grey', shape: 'ring', text: 'stopped' })
    })
  }

  /**
   * Sends what waits for the clock as it is. Once nodes have begun to stop it would be too late: Node-RED drops what is sent to a stopped
   * node.
   */
  releaseWaiting () {
    this.#restamper.release()
  }

  /** For good. */
  async close () {
    await this.#next(() => this.#close())
    this.#restamper.close()
  }

  /** @param {Batch} batch */
  #send (batch) {
    this.meter.record(batch)
    this.#node.send({ topic: batch.source, payload: batch, sluiceSource: this.#node.id })
  }

  /** @param {unknown} error @param {number} rows */
  async #ended (error, rows) {
    if (!this.#source) return
    await this.#close()
    if (error) this.#fail(error)
    else this.#show({ fill: 'grey', shape: 'dot', text: `finished, ${rows.toLocaleString('en-US')} rows${this.#losses}` })
  }

  async #close () {
    this.#stopShowing()
    const source = this.#source
    if (!source) return
    this.#source = null
    await source.close()
    this.#dropGauge()
    this.#countLosses(source)
  }

  /** @param {Source} source */
  #showProgress (source) {
    this.#counted = { ...NOTHING }
    let last = { rows: this.meter.rows, atMs: performance.now() }
    this.#stopShowing = everySecond(() => {
      this.#countLosses(source)
      const now = { rows: this.meter.rows, atMs: performance.now() }
      const rowsPerSecond = (now.rows - last.rows) / (now.atMs - last.atMs) * 1000
      last = now
      this.#show(this.#statusOf(source, rowsPerSecond))
    })
  }

  /** @param {Source} source @param {number} rowsPerSecond @returns {import('../node.js').Status} */
  #statusOf (source, rowsPerSecond) {
    const trouble = source.trouble?.()
    if (trouble) return { fill: 'red', shape: 'ring', text: `${trouble}${this.#losses}` }
    if (backpressure.isPaused(this.#node.id)) {
      return { fill: 'yellow', shape: 'ring', text: `paused: stage out accepts no more${this.#losses}` }
    }
    const waiting = this.#restamper.heldRows
    if (waiting > 0) return { fill: 'yellow', shape: 'ring', text: `the clock is not set: ${count(waiting)} rows wait${this.#losses}` }
    const doubt = wallClock.state === 'unsynchronised' ? ', clock unsynchronised' : ''
    return { fill: doubt ? 'yellow' : 'green', shape: 'dot', text: `${count(rowsPerSecond)} rows/s${doubt}${this.#losses}` }
  }

  /** Adds to the meter what the source has counted since. @param {Source} source */
  #countLosses ({ counters: { missed = 0, late = 0, badLines = 0, undecodable = 0, errors = 0 } }) {
    const counted = { missed, late, unreadable: badLines + undecodable, failed: errors }
    const { meter } = this
    meter.missed += missed - this.#counted.missed
    meter.late += late - this.#counted.late
    meter.errors += counted.unreadable + counted.failed - this.#counted.unreadable - this.#counted.failed
    this.#counted = counted
  }

  get #losses () { return lossesText(this.#counted) }

  /** @param {unknown} error */
  #fail (error) {
    fail(this.#node, error)
    this.#showFailure(error)
  }

  /** Replaces a status that is still to be shown. @param {unknown} error */
  #showFailure (error) {
    this.#show({ fill: 'red', shape: 'ring', text: error instanceof Error ? error.message : String(error) })
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
