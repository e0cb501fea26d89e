import { connect } from 'node:net'
import { noSerialport } from './errors.js'

/**
 * What carries the bytes.
 *
 * @typedef {object} Transport
 * @property {string} endpoint  host and port, or serial port: for messages
 * @property {(signal: AbortSignal) => Promise<Connection>} open
 * @property {boolean} canHang  it may stay open although nothing gets through, like TCP when the other side has lost its power
 * @property {number} charMs  the transmission time of a byte; 0 where it is negligible
 * @property {number} gapMs  silence needed between two frames
 * @property {number} drainMs  silence after which earlier data is over
 *
 * @typedef {object} Connection  lost when its stream closes or ends
 * @property {import('node:stream').Duplex} stream
 * @property {() => Promise<void>} end
 */

const CONNECT_TIMEOUT_MS = 5000
const KEEP_ALIVE_MS = 10_000
const MIN_GAP_MS = 1.75
const GAP_CHARACTERS = 3.5
const SERIAL_DRAIN_MS = 20
const DATA_BITS = 8
const NETWORK_DRAIN_MS = 50

/**
 * @param {string} host
 * @param {number} port
 * @param {{rtu?: boolean}} [options]  `rtu`: it carries the bytes of a serial line
 * @returns {Transport}
 */
export function tcp (host, port, { rtu = false } = {}) {
  const address = host.trim().replace(/^\[(.*)\]$/, '$1')
  return {
    endpoint: `${address.includes(':') ? `[${address}]` : address}:${port}`,
    canHang: true,
    charMs: 0,
    gapMs: 0,
    drainMs: rtu ? NETWORK_DRAIN_MS : 0,
    open: signal => new Promise((resolve, reject) => {
      const socket = connect({ host: address, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS })
      const timer = setTimeout(() => socket.destroy(new Error(`no connection within ${CONNECT_TIMEOUT_MS} ms`)), CONNECT_TIMEOUT_MS)
      const abort = () => socket.destroy(signal.reason)
      const settle = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
      }
      signal.addEventListener('abort', abort, { once: true })
      const ended = new Promise(done => socket.once('close', done))
      socket.on('error', error => { settle(); reject(error) })
      socket.once('connect', () => {
        settle()
        resolve({ stream: socket, end: async () => { socket.destroy(); await ended } })
      })
    })
  }
}

/**
 * @typedef {{path: string, baudRate: number, parity: 'none'|'even'|'odd', stopBits: '1'|'2'}} SerialSettings
 * @param {SerialSettings} settings
 * @returns {Transport}
 */
export function serial ({ path, baudRate, parity, stopBits: stopBitsText }) {
  const stopBits = /** @type {1|2} */ (Number(stopBitsText))
  const charMs = (1 + DATA_BITS + (parity === 'none' ? 0 : 1) + stopBits) / baudRate * 1000
  const gapMs = Math.max(GAP_CHARACTERS * charMs, MIN_GAP_MS)
  return {
    endpoint: path,
    canHang: false,
    charMs,
    gapMs,
    drainMs: Math.max(gapMs, SERIAL_DRAIN_MS),
    async open () {
      const { SerialPort } = await import('serialport').catch(cause => { throw noSerialport(cause) })
      const port = new SerialPort({ path, baudRate, parity, dataBits: DATA_BITS, stopBits, autoOpen: false })
      port.on('error', () => {}) // a close follows where it matters
      await new Promise((resolve, reject) => { port.open(error => error ? reject(error) : resolve(undefined)) })
      return { stream: port, end: () => new Promise(resolve => { port.isOpen ? port.close(() => resolve()) : resolve() }) }
    }
  }
}
