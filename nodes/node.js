import { isDiskFull, namingDisk } from '../gateway/base/disk-full.js'
import { describe, SluiceError } from '../gateway/base/errors.js'
import { codeOf, headlineOf } from '../gateway/base/headlines.js'
import { QuietLog } from '../gateway/base/log.js'
import { readOptions } from '../gateway/base/options.js'
import { stats } from '../gateway/stats/stats.js'
import { credentialsOf } from '../resources/options.js'
import { dataDir } from './data-dir.js'
import { nameOf } from './names.js'

export { dataDir }

/**
 * What the runtime sides of all nodes share.
 *
 * @typedef {import('./data-dir.js').RED} RED
 * @typedef {import('./data-dir.js').Node} Node
 * @typedef {import('./status.js').Status} Status
 * @typedef {import('../resources/options.js').Schema} Schema
 */

const STATUS_INTERVAL_MS = 1000
/** What is due so soon is shown now: waiting for it would be one more wake-up. */
const SOON_MS = 40
/** What each node shows, as text: the same again would be sent to every editor. @type {WeakMap<Node, string>} */
const shown = new WeakMap()
/** The errors that a node has told: one that it could not open with is met again when it closes. @type {WeakSet<WeakKey>} */
const told = new WeakSet()

/**
 * Registers a node type. With bad options, or when `start` fails, the node stays and says what is wrong; it does nothing else.
 * @param {RED} RED
 * @param {string} type
 * @param {object} schema  of its options
 * @param {(node: Node, options: any) => unknown} start  called for each node; may be asynchronous
 */
export function defineNode (RED, type, schema, start) {
  RED.nodes.registerType(type, /** @this {Node} @param {any} config */ function (config) {
    RED.nodes.createNode(this, config)
    const run = async () => start(this, readOptions(schema, config, { credentials: this.credentials }))
    let isClosed = false
    let forget = () => {}
    this.on('close', () => {
      isClosed = true
      stats.statuses.delete(this.id)
      forget()
    })
    run().catch(error => {
      fail(this, error)
      if (isClosed) stats.statuses.delete(this.id)
      else forget = failedGauge(this, nameOf(RED, this), error)
    })
  }, { credentials: credentialsOf(/** @type {Schema} */ (schema)) })
}

/**
 * Tells the stats of a node that does nothing any more.
 * @param {Node} node
 * @param {string} name  that people read of it
 * @param {unknown} error
 * @returns {() => void} ends it
 */
export function failedGauge (node, name, error) {
  return stats.gauge(`failed ${name} (${node.id})`, () => ({ connected: false, problem: describe(error) }), node.id)
}

/**
 * An error that stops the node: its headline in the status; all of it, with its code, in the log and to the catch nodes.
 * @param {Node} node
 * @param {unknown} error
 * @param {object} [message]  the message it came up with
 */
export function fail (node, error, message) {
  shown.delete(node)
  if (error instanceof Error) told.add(error)
  tell(node, failed(error))
  node.error(describe(error), message)
}

/** @param {unknown} error @param {Parameters<typeof headlineOf>[1]} [known] @returns {Status} */
export function failed (error, known) {
  return { fill: 'red', shape: 'ring', text: headlineOf(error, known) }
}

/** To the editor, and to who asks the gateway how its nodes are. @param {Node} node @param {Status} status */
function tell (node, status) {
  stats.statuses.set(node.id, status)
  node.status(status)
}

/** What could not be closed well: a line, where the program is not at fault. @param {RED} RED @param {Node} node @param {unknown} error */
export function failClosing (RED, node, error) {
  if (error instanceof Error && told.has(error)) return
  const known = isDiskFull(error) ? namingDisk(error, dataDir(RED)) : error
  node.error(known instanceof SluiceError ? describe(known) : known)
}

/**
 * @param {Node} node
 * @returns {(status: Status) => void} shows a status where it is another, at most one a second, the last one in any case; a problem is
 *   told in full when it begins
 */
export function throttledStatus (node) {
  const log = new QuietLog(logOf(node), () => performance.now())
  let toldTopic = ''
  let nextMs = 0
  let [isPending, isClosed] = [false, false]
  /** @type {NodeJS.Timeout|undefined} */
  let timer
  /** @type {Status} */
  let latest = {}
  const show = () => {
    isPending = false
    if (isClosed) return
    const { problem, ...status } = latest
    const topic = problem ? codeOf(problem) || problem.replaceAll(/\d+/g, '') : '' // "last answer 12 s ago" is no news
    if (problem && topic !== toldTopic) log.say('warn', topic, problem)
    toldTopic = topic
    const text = JSON.stringify(status)
    if (shown.get(node) === text) return
    shown.set(node, text)
    nextMs = performance.now() + STATUS_INTERVAL_MS
    tell(node, status)
  }
  node.on('close', () => {
    isClosed = true
    clearTimeout(timer)
  })
  return status => {
    latest = status
    if (isPending || isClosed) return
    isPending = true
    const waitMs = nextMs - performance.now()
    if (waitMs > SOON_MS) timer = setTimeout(show, waitMs)
    else setImmediate(show)
  }
}

/**
 * Has a node answer its messages; what the handler throws goes to Node-RED with the message.
 * @param {Node} node
 * @param {(message: any, send: (message: any) => void) => unknown} handler
 */
export function handlesInput (node, handler) {
  node.on('input', async (/** @type {any} */ message, /** @type {any} */ send, /** @type {(error?: string) => void} */ done) => {
    try {
      await handler(message, send)
      done()
    } catch (error) {
      done(describe(error))
    }
  })
}

/** @param {Node} node @returns {import('../gateway/base/log.js').Log} */
export function logOf (node) {
  return { info: text => node.log(text), warn: text => node.warn(text), error: text => node.error(text) }
}
