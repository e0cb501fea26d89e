import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { describe } from '../../base/errors.js'

/**
 * A client's side of its `StartedClient`, in a thread or a process of its own. What it has answered to each message is the next that it
 * posts; once it has posted that it is closed, it is ended.
 * @typedef {{load: any, post: (answer: unknown) => void, told: () => Promise<[any]>}} Channel  `load` is what it was started with
 */

/** @returns {Promise<Channel>} */
export async function channel () {
  return parentPort ? thread(parentPort) : ownProcess()
}

/** @param {import('node:worker_threads').MessagePort} port @returns {Channel} */
function thread (port) {
  return { load: workerData, post: message => port.postMessage(message), told: () => /** @type {any} */ (once(port, 'message')) }
}

/** It ends with whoever has started it. @returns {Promise<Channel>} */
async function ownProcess () {
  const tell = (/** @type {any} */ message, sent = () => {}) => process.send?.(message, sent)
  process.once('disconnect', () => process.exit())
  process.once('uncaughtException', error => tell({ failed: describe(error) }, () => process.exit(1)))
  const [load] = await once(process, 'message')
  return { load, post: tell, told: () => /** @type {any} */ (once(process, 'message')) }
}
