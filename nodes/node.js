import path from 'node:path'
import { isDiskFull, namingDisk } from '../gateway/base/disk-full.js'
import { describe } from '../gateway/base/errors.js'
import { readOptions } from '../gateway/base/options.js'
import { stats } from '../gateway/stats/stats.js'
import { credentialsOf } from '../resources/options.js'

/**
 * What the runtime sides of all nodes share.
 *
 * @typedef {any} RED  Node-RED's runtime, as it hands it to a node's module
 * @typedef {any} Node
 * @typedef {{fill?: 'red'|'green'|'yellow'|'blue'|'grey', shape?: 'dot'|'ring', text?: string}} Status
 * @typedef {import('../resources/options.js').Schema} Schema
 */

const STATUS_INTERVAL_MS = 1000
/** What is due so soon is shown now: waiting for it would be one more wake-up. */
const SOON_MS = 40
/** What each node shows, as text: the same again would be sent to every editor. @type {WeakMap<Node, string>} */
const shown = new WeakMap()
/** Of the text of an error, in characters: the editor wraps none, and the log has it all. */
const MAX_STATUS = 200

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
      forget()
    })
    run().catch(error => {
      fail(this, error)
      if (isClosed) return
      forget = stats.gauge(`failed ${this.name || type} (${this.id})`, () => ({ connected: false, problem: describe(error) }))
    })
  }, { credentials: credentialsOf(/** @type {Schema} */ (schema)) })
}

/**
 * An error that stops the node: in its status, and with its code in the log and to the catch nodes.
 * @param {Node} node
 * @param {unknown} error
 * @param {object} [message]  the message it came up with
 */
export function fail (node, error, message) {
  shown.delete(node)
  const text = error instanceof Error ? error.message : String(error)
  node.status({ fill: 'red', shape: 'ring', text: text.length > MAX_STATUS ? `${text.slice(0, MAX_STATUS - 1)}…` : text })
  node.error(describe(error), message)
}

/** What could not be closed well; a full disk in a line. @param {RED} RED @param {Node} node @param {unknown} error */
export function failClosing (RED, node, error) {
  node.error(isDiskFull(error) ? describe(namingDisk(error, dataDir(RED))) : error)
}

/**
 * @param {Node} node
 * @returns {(status: Status) => void} shows a status where it is another, at most one a second, the last one in any case
 */
export function throttledStatus (node) {
  let nextMs = 0
  let isPending = false
  /** @type {NodeJS.Timeout|undefined} */
  let timer
  /** @type {Status} */
  let latest = {}
  const show = () => {
    if (!isPending) return // it is closed
    isPending = false
    const text = JSON.stringify(latest)
    if (shown.get(node) === text) return
    shown.set(node, text)
    nextMs = performance.now() + STATUS_INTERVAL_MS
    node.status(latest)
  }
  node.on('close', () => {
    isPending = false
    clearTimeout(timer)
  })
  return status => {
    latest = status
    if (isPending) return
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

/** Where spools, dead letters and local databases live. @param {RED} RED */
export function dataDir (RED) {
  return path.join(RED.settings.userDir, 'sluice')
}
