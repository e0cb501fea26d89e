import { openDevice } from '../../gateway/modbus/device.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { Shared } from '../shared.js'

/**
 * @typedef {import('../../gateway/modbus/source.js').DeviceLease & {closing: AbortSignal, release: () => void}} Lease  `closing`: the
 *   device node is closing, and waits for its leases
 */

/** The device of one config node, for all nodes that lease it. */
export class SharedDevice {
  #options
  #name
  #shared
  #closing = new AbortController()

  /** @param {any} options  of the device @param {{name: string, log: import('../../gateway/base/log.js').Log}} context */
  constructor (options, { name, log }) {
    this.#options = options
    this.#name = name || placeOf(options)
    this.#shared = new Shared(() => openDevice(options, { log }))
  }

  /** Whether this is how it is reached and asked. @param {object} options */
  isFor (options) {
    return JSON.stringify({ ...options, name: '' }) === JSON.stringify({ ...this.#options, name: '' })
  }

  /** @returns {Promise<Lease>} */
  async lease () {
    const { order, pipeline } = this.#options
    const { thing, release } = await this.#shared.lease()
    return { device: thing, deviceName: this.#name, order, pipeline, closing: this.#closing.signal, release }
  }

  /** Resolves once it is no longer in use. */
  close () {
    this.#closing.abort(new SluiceError('SLUICE_MODBUS_CLOSED', 'The device was deployed again.'))
    return this.#shared.close()
  }
}

/**
 * A lease of the device that a node's form names.
 * @param {import('../node.js').RED} RED
 * @param {unknown} id  of the config node
 * @returns {Promise<Lease>}
 * @throws {SluiceError} SLUICE_MODBUS_DEVICE_MISSING
 */
export async function leaseDevice (RED, id) {
  const node = typeof id === 'string' ? RED.nodes.getNode(id) : null
  if (node?.type === 'sluice-modbus-device' && node.shared) return node.shared.lease()
  throw new SluiceError('SLUICE_MODBUS_DEVICE_MISSING', 'The Modbus device is missing or not set up.', {
    fix: 'Choose one in the form, and deploy.'
  })
}

/** @param {{connection: string, host: string, port: number, path: string, unit: number}} options */
function placeOf ({ connection, host, port, path, unit }) {
  return `${connection === 'rtu' ? path : `${host}:${port}`} unit ${unit}`
}
