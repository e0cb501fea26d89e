import { SluiceError } from '../../gateway/base/errors.js'

/**
 * @typedef {import('../../gateway/modbus/device.js').Area} Area
 * @typedef {{area: Area, address: number, count: number}} Asked
 */

/** A device that answers at once, from memory, and fails as it is told to. */
export class FakeDevice {
  limits = { maxRegisters: 125, maxBits: 2000, maxGapRegisters: 16, maxGapBits: 256 }
  health = /** @type {import('../../gateway/modbus/device.js').Device['health']} */ ({
    state: 'good', latencyMs: 1, requests: 0, retries: 0, timeouts: 0, exceptions: 0, badReplies: 0, disconnects: 0, lastGoodMs: null,
    queued: 0
  })

  /** @type {Asked[]} */
  asked = []
  /** @type {{area: Area, address: number, values: number[]}[]} */
  written = []
  /** Called before each answer. @type {() => unknown} */
  before = () => undefined

  /** Replace it by one that returns errors. @param {Asked} _request @returns {Error|undefined} */
  fails (_request) { return undefined }

  /** @type {Record<Area, Uint16Array>} */
  memory = {
    coils: new Uint16Array(65536),
    'discrete-inputs': new Uint16Array(65536),
    'holding-registers': new Uint16Array(65536),
    'input-registers': new Uint16Array(65536)
  }

  /** @param {Area} area @param {number} address @param {number} count @param {{signal?: AbortSignal}} [options] */
  async read (area, address, count, { signal } = {}) {
    const request = { area, address, count }
    this.asked.push(request)
    const aborted = new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
    await Promise.race([this.before(), aborted])
    const error = this.fails(request)
    if (error) throw error
    return this.memory[area].slice(address, address + count)
  }

  /** @param {'coils'|'holding-registers'} area @param {number} address @param {ArrayLike<number>} values */
  async write (area, address, values) {
    const error = this.fails({ area, address, count: values.length })
    if (error) throw error
    this.written.push({ area, address, values: Array.from(values) })
    this.memory[area].set(values, address)
  }

  async close () {}
}

/** Refuses requests that include one of the addresses, like a device without them. @param {number[]} addresses */
export const lacking = addresses => (/** @type {Asked} */ { address, count }) => (
  addresses.some(missing => missing >= address && missing < address + count) ? exception(2) : undefined
)

/** @param {number} number */
export const exception = number => failure('SLUICE_MODBUS_EXCEPTION', { quality: `exception ${number}`, exception: number })
export const timeout = () => failure('SLUICE_MODBUS_TIMEOUT', { quality: 'timeout' })
export const silent = () => failure('SLUICE_MODBUS_SILENT', { quality: 'silent', retryInMs: 4000 })

/** @param {`SLUICE_${string}`} code @param {{quality: string, exception?: number, retryInMs?: number}} details */
function failure (code, details) {
  return new SluiceError(code, `It failed: ${details.quality}.`, { details })
}
