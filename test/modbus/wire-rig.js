import { setTimeout as sleep } from 'node:timers/promises'
import { openDevice } from '../../gateway/modbus/device.js'
import { startFakeSlaves } from './wire-fake-slaves.js'

/**
 * @typedef {import('./wire-fake-slaves.js').FakeRequest} FakeRequest
 * @typedef {import('../../gateway/modbus/device.js').Device} Device
 */

/** Of devices that are to time out; others have time, however busy the machine is. */
export const TIMEOUT_MS = 50
const PATIENCE_MS = 10_000
export const rtu = { connection: 'rtu-over-tcp' }

/** Devices and fake slaves that are closed after each test of a suite. */
export function lineRig () {
  /** @type {(() => Promise<void>)[]} */
  let endings = []
  afterEach(async () => {
    await Promise.all(endings.map(end => end()))
    endings = []
  })

  return {
    /** @param {(request: FakeRequest) => void} behave @param {{rtu?: boolean, host?: string, port?: number}} [options] */
    async slaves (behave, options = {}) {
      const fake = await startFakeSlaves(options, behave)
      endings.push(fake.close)
      return fake
    },

    /** @param {{port: number}} fake @param {object} [options] */
    open ({ port }, options = {}) {
      /** @type {string[]} */
      const said = []
      const say = (/** @type {string} */ text) => { said.push(text) }
      const device = openDevice({ host: '127.0.0.1', port, timeoutMs: PATIENCE_MS, firstRetryMs: 10, ...options }, {
        log: { info: say, warn: say, error: say },
        random: () => 0
      })
      endings.push(device.close)
      return Object.assign(device, { said })
    }
  }
}

/** What a slave holds where each register holds its address. @param {FakeRequest} request */
export function answerAddress (request) {
  request.reply(...Array.from({ length: request.count }, (_, i) => request.address + i))
}

/** @param {Device} device @param {number} [address] @param {number} [count] */
export async function read (device, address = 1, count = 1) {
  return [...await device.read('holding-registers', address, count)]
}

/** Reads again and again until it succeeds. @param {Device} device @param {number} [address] */
export async function readAtLast (device, address) {
  for (;;) {
    try {
      return await read(device, address)
    } catch {
      await sleep(2)
    }
  }
}

/** What a promise rejects with. @param {Promise<unknown>} promise */
export function failure (promise) {
  return promise.then(() => ({ code: 'none', message: '', details: {} }), error => error)
}
