import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { startPython } from './python.js'

/**
 * @typedef {object} MasterOptions
 * @property {'tcp'|'rtu-over-tcp'|'serial'} transport  libmodbus has no RTU over TCP
 * @property {number} [port]  on 127.0.0.1
 * @property {string} [path]  of the serial port
 * @property {number} [timeoutMs]
 *
 * @typedef {object} MasterRequest  reads where it has a count, writes one where it has a value, and several where it has a list
 * @property {import('../../gateway/modbus/device.js').Area} area
 * @property {number} address
 * @property {number} [unit]
 * @property {number} [count]
 * @property {number|number[]} [values]
 *
 * @typedef {object} MasterResult
 * @property {number[]} [values]  bits as 0 and 1
 * @property {number} [exception]
 * @property {string} [error]
 * @property {string} [text]  more about the error
 * @property {string[]} said  what pymodbus logged meanwhile
 * @property {number} tookMs
 */

/** A Modbus master of somebody else's making. Call `requirePython` or `requireLibmodbus` first. */
export class ModbusMaster {
  #process
  #lines

  /** @param {import('node:child_process').ChildProcessWithoutNullStreams} child */
  constructor (child) {
    this.#process = child
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  }

  /** @param {'pymodbus'|'libmodbus'} library @param {MasterOptions} options */
  static async start (library, options) {
    const child = startPython(library === 'pymodbus' ? 'modbus_client.py' : 'libmodbus_client.py', [
      JSON.stringify({ timeoutMs: 2000, ...options })
    ])
    let complaints = ''
    child.stderr.on('data', text => { complaints += text })
    const master = new ModbusMaster(child)
    const { value } = await master.#lines.next()
    if (value !== 'ready') throw new Error(`The master on ${library} did not start: ${complaints}`)
    return master
  }

  /** @param {MasterRequest} request @returns {Promise<MasterResult>} */
  async ask (request) {
    this.#process.stdin.write(`${JSON.stringify(request)}\n`)
    return JSON.parse(String((await this.#lines.next()).value))
  }

  async stop () {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    this.#process.kill('SIGKILL')
    await once(this.#process, 'exit')
  }
}
