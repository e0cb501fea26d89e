import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { freePort } from './ports.js'
import { startPython } from './python.js'

/**
 * @typedef {object} ModbusServerOptions
 * @property {'tcp'|'rtu-over-tcp'|'serial'} transport
 * @property {string} [path]  of the serial port
 * @property {number} [port]  a free one when left out
 * @property {number[]} [units]
 * @property {Partial<Contents>} [contents]  instead of `CONTENTS`; the same in all units
 *
 * @typedef {Record<import('../../gateway/modbus/device.js').Area, number[]>} Contents  values from address 0; beyond them are no addresses
 */

/** What a server holds unless it is told otherwise. @type {Contents} */
export const CONTENTS = {
  coils: Array.from({ length: 2100 }, (_, i) => i % 3 === 0 ? 1 : 0),
  'discrete-inputs': Array.from({ length: 2100 }, (_, i) => i % 7 < 3 ? 1 : 0),
  'holding-registers': Array.from({ length: 300 }, (_, i) => (i * 257 + 1) & 0xFFFF),
  'input-registers': Array.from({ length: 300 }, (_, i) => 0xFFFF - i * 3)
}

/** A Modbus server of somebody else's making, on 127.0.0.1 or a serial port, that can be killed and started again. */
export class ModbusServer {
  /** @type {import('node:child_process').ChildProcess|null} */
  #process = null
  /** @type {AsyncIterator<string>|null} */
  #lines = null
  #script
  #options

  /** @param {string} script @param {ModbusServerOptions & {port: number}} options */
  constructor (script, options) {
    this.port = options.port
    this.#script = script
    this.#options = { units: [1], ...options, contents: { ...CONTENTS, ...options.contents } }
  }

  /** @param {string} script @param {ModbusServerOptions} options */
  static async start (script, options) {
    const server = new ModbusServer(script, { ...options, port: options.port ?? await freePort() })
    await server.start()
    return server
  }

  /** Starts it, again after kill(), with its contents as at first, and waits until it listens. */
  async start () {
    const child = startPython(this.#script, [JSON.stringify(this.#options)])
    let complaints = ''
    child.stderr.on('data', text => { complaints += text })
    this.#process = child
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]()
    const { value } = await this.#lines.next()
    if (value !== 'ready') throw new Error(`${this.#script} did not start: ${complaints}`)
  }

  /** How many requests have come since it started. @returns {Promise<number>} */
  async requests () {
    this.#process?.stdin?.write('requests\n')
    return Number((await this.#lines?.next())?.value)
  }

  /** Ends it as a power cut would. */
  async kill () {
    const child = this.#process
    this.#process = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}
