import { openBus } from '../../gateway/can/bus/bus.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { Shared } from '../shared.js'

/** @typedef {{bus: import('../../gateway/can/bus/bus.js').Bus, release: () => void}} Lease */

/** The bus of one config node, for all who lease it. */
export class SharedBus {
  #shared

  /** @param {any} options  of the bus @param {import('../../gateway/base/log.js').Log} log */
  constructor (options, log) {
    this.#shared = new Shared(() => openBus(options, { log }))
  }

  /** @returns {Promise<Lease>} */
  async lease () {
    const { thing, release } = await this.#shared.lease()
    return { bus: thing, release }
  }

  /** Once it is no longer in use. */
  close () {
    return this.#shared.close()
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
