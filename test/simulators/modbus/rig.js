import { once } from 'node:events'
import { connect } from 'node:net'
import { openModbusSimulator } from '../../../gateway/simulators/modbus/simulator.js'

/** @typedef {import('../../../gateway/simulators/modbus/simulator.js').ModbusSimulator} ModbusSimulator */

/** A function that opens simulators, which are closed after each test of the suite that calls this. */
export function simulators () {
  /** @type {Set<ModbusSimulator>} */
  const open = new Set()
  afterEach(async () => {
    for (const simulator of open) await simulator.close()
    open.clear()
  })
  return async (/** @type {object} */ options = {}, /** @type {object} */ context = {}) => {
    const simulator = await openModbusSimulator({ port: 0, ...options }, { log: console, ...context })
    open.add(simulator)
    return simulator
  }
}

/** A connection to it. @param {ModbusSimulator} simulator @returns {Promise<import('node:net').Socket>} */
export async function connectTo (simulator) {
  const socket = connect({ port: /** @type {number} */ (simulator.port), host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  socket.on('error', () => {})
  return socket
}

/** @param {import('node:net').Socket} socket @param {Uint8Array} bytes @returns {Promise<Buffer>} what comes next */
export async function ask (socket, bytes) {
  const answered = once(socket, 'data')
  socket.write(bytes)
  return (await answered)[0]
}

/** Of Modbus TCP: reads holding registers. @param {{transaction?: number, unit?: number, address?: number, count?: number}} [request] */
export function readRequestFrame ({ transaction = 1, unit = 1, address = 0, count = 2 } = {}) {
  const frame = Buffer.from([0, 0, 0, 0, 0, 6, unit, 3, 0, 0, 0, 0])
  frame.writeUInt16BE(transaction, 0)
  frame.writeUInt16BE(address, 8)
  frame.writeUInt16BE(count, 10)
  return frame
}

/** Two holding registers. @param {number} unit */
export const READ_TWO = unit => readRequestFrame({ unit })
