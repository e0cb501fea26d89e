import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../../gateway/base/errors.js'
import { readOptions } from '../../gateway/base/options.js'
import { remaining } from '../../gateway/stats/format.js'
import { dataDir, defineNode, failed, handlesInput, throttledStatus } from '../node.js'
import { sentence } from '../status.js'
import { nameOf } from '../names.js'
import { servePost } from '../serve-post.js'
import { BenchProgram } from './program.js'
import { schema, sweepProperties } from './run.schema.js'
import { serverEnvironment } from './server-urls.js'

/** Node-RED waits 12 s for a node to close (gateway/run/settings.js). */
const STOP_MS = 10_000
/** Results leave here, and progress. */
const RESULT = 0
const PROGRESS = 1

/** Two that run at the same time would measure each other. @type {BenchRun|null} */
let running = null

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  servePost(RED, '/sluice-bench/:id/press', (request, response) => {
    const run = RED.nodes.getNode(request.params.id)?.benchRun
    if (!run) return response.sendStatus(404)
    response.json({ state: run.press() })
  })
  defineNode(RED, 'sluice-bench-run', schema, (node, options) => {
    const run = new BenchRun(RED, node, options)
    node.benchRun = run
    handlesInput(node, (message, send) => message.stop ? run.stop() : run.start(message, send))
    node.on('close', (/** @type {() => void} */ done) => { run.close().finally(done) })
  })
}

/** Runs one study after the other, as it is told to. */
class BenchRun {
  #show
  /** @type {BenchProgram|null} */
  #program = null
  #isClosed = false

  /** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {any} options */
  constructor (RED, node, options) {
    this.RED = RED
    this.node = node
    this.options = options
    this.#show = throttledStatus(node)
  }

  /** Of the node's button: starts, or stops what runs. @returns {'started'|'stopping'} */
  press () {
    if (this.#program) {
      this.stop()
      return 'stopping'
    }
    this.node.receive({})
    return 'started'
  }

  /** @param {any} message @param {(messages: any[]) => void} send @returns {Promise<void>} when it has ended */
  async start (message, send) {
    if (running) {
      throw new SluiceError('SLUICE_BENCH_BUSY', `A study is being measured by ${nameOf(this.RED, running.node)}.`, {
        fix: 'Wait for its end, or stop it: two at the same time would measure each other.'
      })
    }
    const options = this.#optionsFor(message.payload)
    const environment = serverEnvironment(this.RED, options)
    /** @type {any[]} */
    const reports = []
    const tell = (/** @type {any} */ event) => {
      if (event.event === 'progress') this.#progress(event)
      else if (event.event === 'problem') this.node.warn(event.text)
      else if ('page' in event) reports.push(event)
    }
    running = this
    this.#show({ fill: 'blue', shape: 'ring', text: 'starting' })
    this.#program = new BenchProgram(this.#argumentsFor(options), { environment, tell })
    try {
      await this.#program.ended
      await this.#finish(reports, message, send)
    } catch (error) {
      this.#show(failed(error))
      throw error
    } finally {
      this.#program = null
      running = null
    }
  }

  stop () {
    if (!this.#program) return
    this.#show({ fill: 'yellow', shape: 'ring', text: 'stopping' })
    this.#program.stop()
  }

  /** What runs is stopped, and can go on later. */
  async close () {
    this.#isClosed = true
    const program = this.#program
    if (!program) return
    program.stop()
    const ended = program.ended.catch(() => {}) // told by start
    const waiting = new AbortController()
    const late = sleep(STOP_MS, null, { signal: waiting.signal }).then(() => program.kill(), () => {})
    await Promise.race([ended, late])
    waiting.abort()
    await ended
  }

  /** An object's members instead of the node's own options. @param {unknown} payload */
  #optionsFor (payload) {
    if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return this.options
    const given = Object.entries(payload).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value])
    return readOptions(schema, { ...this.options, ...Object.fromEntries(given) })
  }

  /** @param {any} options @returns {string[]} */
  #argumentsFor (options) {
    const chosen = Object.keys(sweepProperties).filter(name => options[name] !== null && options[name] !== '')
    return [
      options.study,
      ...options.size === 'full' ? ['--full'] : [],
      ...chosen.map(name => `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}=${options[name]}`),
      ...options.limit ? [`--limit=${options.limit}`] : [],
      ...options.resume ? ['--resume=last'] : [],
      `--folder=${resolve(dataDir(this.RED), options.folder)}`
    ]
  }

  /** @param {any} event */
  #progress ({ event: _, ...progress }) {
    const { cell, cells, secondsLeft, label } = progress
    this.#show({ fill: 'blue', shape: 'dot', text: sentence(`${cell} of ${cells}, ${remaining(secondsLeft)} left: ${label}`) })
    if (!this.#isClosed) this.node.send(through(PROGRESS, { topic: 'progress', payload: progress }))
  }

  /**
   * @param {any[]} reports  as they were told: of several studies, last the page that leads to them
   * @param {any} message @param {(messages: any[]) => void} send
   */
  async #finish (reports, message, send) {
    if (this.#isClosed) return
    if (reports.length === 0) return this.#show({ fill: 'grey', shape: 'ring', text: 'nothing measured' })
    const { folder, page, isComplete } = reports[reports.length - 1]
    const folders = reports.filter(({ event }) => event === 'report').map(report => report.folder)
    const results = await Promise.all(folders.map(async each => JSON.parse(await readFile(join(each, 'result.json'), 'utf8'))))
    const cells = results.flatMap(result => result.cells)
    const done = cells.filter(({ state }) => state === 'done').length
    this.#show(isComplete
      ? { fill: 'green', shape: 'dot', text: `${done} of ${cells.length} measured` }
      : { fill: 'yellow', shape: 'dot', text: `stopped, ${done} measured` })
    send(through(RESULT, { ...message, payload: results.length > 1 ? results : results[0], folder, page }))
  }
}

/** A message for one output. @param {number} output @param {object} message */
function through (output, message) {
  const outputs = []
  outputs[output] = message
  return outputs
}
