import { openDevice } from '../../gateway/modbus/device.js'
import { SluiceError } from '../../gateway/errors.js'

/** @typedef {import('../../gateway/sources/modbus.js').DeviceLease & {closing: AbortSignal, release: () => void}} Lease  `closing`: the device node waits for its leases */

/**
 * One device for all who lease it: opened for the first, closed after the last. A device that is leased again while it closes is opened once that is done, for a serial port
 * has one owner.
 */
export class SharedDevice {
  #options
  #name
  #log
  /** @type {import('../../gateway/modbus/device.js').Device|null} */
  #device = null
  /** @type {Set<Promise<void>>} */
  #leases = new Set()
  #closed = Promise.resolve()
  #closing = new AbortController()

  /** @param {any} options  of the device @param {{name: string, log: import('../../gateway/sinks/sink.js').Log}} context */
  constructor (options, { name, log }) {
    this.#options = options
    this.#name = name || placeOf(options)
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
      await this.#closed
      const { order, pipeline } = this.#options
      this.#device ??= openDevice(this.#options, { log: this.#log })
      return { device: this.#device, deviceName: this.#name, order, pipeline, closing: this.#closing.signal, release }
    } catch (error) {
      release()
      throw error
    }
  }

  /** Once nobody uses it any more. */
  async close () {
    this.#closing.abort(new SluiceError('SLUICE_MODBUS_CLOSED', 'The device was deployed anew.'))
    while (this.#leases.size > 0) await Promise.all(this.#leases)
    await this.#closed
  }

  #end () {
    const device = this.#device
    this.#device = null
    if (device) this.#closed = device.close()
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
  throw new SluiceError('SLUICE_MODBUS_DEVICE_MISSING', 'The Modbus device is missing or not set up.', { fix: 'Choose one in the form, and deploy.' })
}

/** @param {{connection: string, host: string, port: number, path: string, unit: number}} options */
function placeOf ({ connection, host, port, path, unit }) {
  return `${connection === 'rtu' ? path : `${host}:${port}`} unit ${unit}`
}
