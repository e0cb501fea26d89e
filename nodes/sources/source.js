import { wallClock } from '../../gateway/clock/system-clock.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { Restamper } from '../../gateway/clock/restamper.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { backpressure } from '../../gateway/flow/backpressure.js'
import { quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { onFlows } from '../flow-events.js'
import { defineNode, fail, failClosing, failed, failedGauge, handlesInput, logOf, throttledStatus } from '../node.js'
import { nameSources, sourceNameOf } from '../names.js'
import { counted, sentence } from '../status.js'

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
  nameSources(type, schema)
  defineNode(RED, type, schema, (node, options) => {
    const show = throttledStatus(node)
    const named = { ...options, name: sourceNameOf(RED, node, options) }
    const runner = new Runner(node, named.name, show, context => open(named, context))
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
  #name
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
  /** That it has sent: the meter has those of all nodes of the name. */
  #rows = 0

  /**
   * @param {import('../node.js').Node} node
   * @param {string} name
   * @param {(status: import('../node.js').Status) => void} show
   * @param {(context: SourceContext) => Source|Promise<Source>} open
   */
  constructor (node, name, show, open) {
    this.#node = node
    this.#name = name
    this.#show = show
    this.#open = open
    this.meter = stats.meter('source', name)
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
      const source = this.#source
      const { gauge } = source
      this.#dropGauge()
      this.meter.running.add(this.#node.id)
      const withProblem = () => ({ ...gauge?.(), problem: source.trouble?.() ?? null })
      if (gauge) this.#dropGauge = stats.gauge(`source ${this.#name}`, withProblem, this.#node.id)
      this.#showProgress(source)
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
    this.#rows += batch.rows
    this.#node.send({ topic: batch.source, payload: batch, sluiceSource: this.#node.id })
  }

  /** @param {unknown} error @param {number} rows */
  async #ended (error, rows) {
    if (!this.#source) return
    await this.#close()
    if (!error) {
      const text = sentence(`finished, ${rows.toLocaleString('en-US')} rows`, ...this.#losses)
      return this.#show({ fill: 'grey', shape: 'dot', text })
    }
    this.#fail(error)
    this.#dropGauge = failedGauge(this.#node, this.#name, error)
  }

  async #close () {
    this.#stopShowing()
    this.#dropGauge()
    const source = this.#source
    if (!source) return
    this.#source = null
    this.meter.running.delete(this.#node.id)
    await source.close()
    this.#countLosses(source)
  }

  /** @param {Source} source */
  #showProgress (source) {
    this.#counted = { ...NOTHING }
    let last = { rows: this.#rows, atMs: performance.now() }
    this.#stopShowing = everySecond(() => {
      this.#countLosses(source)
      const now = { rows: this.#rows, atMs: performance.now() }
      const rowsPerSecond = (now.rows - last.rows) / Math.max(1, now.atMs - last.atMs) * 1000
      last = now
      this.#show(this.#statusOf(source, rowsPerSecond))
    })
  }

  /** @param {Source} source @param {number} rowsPerSecond @returns {import('../node.js').Status} */
  #statusOf (source, rowsPerSecond) {
    const trouble = source.trouble?.()
    const told = (/** @type {string[]} */ ...parts) => sentence(parts[0], ...parts.slice(1), ...this.#losses)
    if (trouble) return { fill: 'red', shape: 'ring', text: told(trouble), problem: trouble }
    if (backpressure.isPaused(this.#node.id)) return { fill: 'yellow', shape: 'ring', text: told('paused by stage out') }
    const waiting = this.#restamper.heldRows
    if (waiting > 0) return { fill: 'yellow', shape: 'ring', text: told(`the clock is not set: ${quantity(waiting)} rows wait`) }
    const doubt = wallClock.state === 'unsynchronised' ? 'clock unsynchronised' : ''
    const { missed, unreadable, failed: errors } = this.#counted
    const isWell = !doubt && missed + unreadable + errors === 0
    return { fill: isWell ? 'green' : 'yellow', shape: 'dot', text: told(`${quantity(rowsPerSecond)} rows/s`, doubt) }
  }

  /** Adds to the meter what the source has counted since. @param {Source} source */
  #countLosses ({ counters: { missed = 0, late = 0, badLines = 0, undecodable = 0, errors = 0 } }) {
    const now = { missed, late, unreadable: badLines + undecodable, failed: errors }
    const { meter } = this
    meter.missed += missed - this.#counted.missed
    meter.late += late - this.#counted.late
    meter.errors += now.unreadable + now.failed - this.#counted.unreadable - this.#counted.failed
    this.#counted = now
  }

  get #losses () { return counted(this.#counted) }

  /** @param {unknown} error */
  #fail (error) {
    fail(this.#node, error)
    this.#showFailure(error)
  }

  /** Replaces a status that is still to be shown. @param {unknown} error */
  #showFailure (error) {
    this.#show(failed(error))
  }

  /** @param {() => Promise<void>} step */
  #next (step) {
    const turn = this.#turn.then(step)
    this.#turn = turn.catch(() => {})
    return turn
  }
}
