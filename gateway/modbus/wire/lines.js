import { SluiceError } from '../../base/errors.js'
import { Line } from './line.js'
import { Mbap } from './mbap.js'
import { Rtu } from './rtu.js'
import { serial, tcp } from './transport.js'

/**
 * @typedef {object} Way  how a device is reached
 * @property {string|null} key  of the line that it shares; null for one of its own
 * @property {string} settings  that all who share it must agree on
 * @property {() => import('./transport.js').Transport} transport
 * @property {() => import('./framing.js').Framing} framing
 */

/** @type {Record<string, (options: any) => Way>} */
const ways = {
  tcp: ({ host, port, shareConnection }) => ({
    key: shareConnection ? `tcp ${host.toLowerCase()} ${port}` : null,
    settings: '',
    transport: () => tcp(host, port),
    framing: () => new Mbap()
  }),
  'rtu-over-tcp': ({ host, port }) => ({
    key: `rtu-over-tcp ${host.toLowerCase()} ${port}`,
    settings: '',
    transport: () => tcp(host, port, { rtu: true }),
    framing: () => new Rtu()
  }),
  rtu: options => ({
    key: `rtu ${options.path}`,
    settings: `${options.baudRate} baud, 8${options.parity[0].toUpperCase()}${options.stopBits}`,
    transport: () => serial(options),
    framing: () => new Rtu()
  })
}

/** @type {Map<string, {line: Line, settings: string, leases: number}>} */
const shared = new Map()

/**
 * The line to a device: its own, or the one that others at the same address use already.
 * @param {any} options  as in the device's schema
 * @param {() => number} random
 * @returns {{line: Line, isShared: boolean, release: () => Promise<void>}} it is closed with its last lease
 * @throws {SluiceError} SLUICE_OPTIONS where it is in use with other settings
 */
export function leaseLine (options, random) {
  const { key, settings, transport, framing } = ways[options.connection](options)
  const open = () => new Line(transport(), framing(), { firstRetryMs: options.firstRetryMs, longestRetryMs: options.longestRetryMs, random })
  if (key === null) {
    const line = open()
    return { line, isShared: false, release: () => line.close() }
  }

  const entry = shared.get(key) ?? { line: open(), settings, leases: 0 }
  if (entry.settings !== settings) {
    throw new SluiceError('SLUICE_OPTIONS', `${options.path} is in use with ${entry.settings}, and cannot have ${settings} at the same time.`, {
      fix: 'Give all devices of a serial line the same settings, and deploy them together.'
    })
  }
  entry.leases++
  shared.set(key, entry)
  const release = async () => {
    if (--entry.leases > 0) return
    shared.delete(key)
    await entry.line.close()
  }
  return { line: entry.line, isShared: true, release }
}
