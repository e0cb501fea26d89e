import { openBus } from '../../gateway/can/bus/bus.js'
import { SluiceError } from '../../gateway/errors.js'

/** @typedef {{bus: import('../../gateway/can/bus/bus.js').Bus, release: () => void}} Lease */

/** One bus for all who lease it: opened for the first, closed after the last. */
export class SharedBus {
  #options
  #log
  /** @type {Promise<import('../../gateway/can/bus/bus.js').Bus>|null} */
  #opening = null
  /** @type {Set<Promise<void>>} */
  #leases = new Set()
  #closed = Promise.resolve()

  /** @param {any} options  of the bus @param {import('../../gateway/sinks/sink.js').Log} log */
  constructor (options, log) {
    this.#options = options
    this.#log = log
  }

  /** @returns {Promise<Lease>} */
  async lease () {
    const { promise, resolve } = Promise.withResolvers()
    this.#leases.add(promise)
    const release = () => {
      if (this.#leases.delete(promise) && this.#leases.size === 0) this.#end()
      resolve(undefined)
    }
    try {
      this.#opening ??= this.#closed.then(() => openBus(this.#options, { log: this.#log }))
      return { bus: await this.#opening, release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Once nobody uses it any more. */
  async close () {
    while (this.#leases.size > 0) await Promise.all(this.#leases)
    await this.#closed
  }

  #end () {
    const opening = this.#opening
    this.#opening = null
    if (opening) this.#closed = opening.then(bus => bus.close(), () => {})
  }
}

/**
 * A lease of the bus that a node's form names.
 * @param {import('../node.js').RED} RED
 * @param {unknown} id  of the config node
 * @returns {Promise<Lease>}
 * @throws {SluiceError} SLUICE_CAN_BUS_MISSING
 */
export async function leaseBus (RED, id) {
  const node = typeof id === 'string' ? RED.nodes.getNode(id) : null
  if (node?.type === 'sluice-can-bus' && node.shared) return node.shared.lease()
  throw new SluiceError('SLUICE_CAN_BUS_MISSING', 'The CAN bus is missing or not set up.', { fix: 'Choose one in the form, and deploy.' })
}
