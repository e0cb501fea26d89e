import { SluiceError } from '../../base/errors.js'
import { Line } from './line.js'
import { Mbap } from './mbap.js'
import { Rtu } from './rtu.js'
import { serial, tcp } from './transport.js'

/**
 * @typedef {object} LineSettings  how a device is reached
 * @property {string|null} key  of the line that it shares; null for its own line
 * @property {string} settings  that all devices of the line must have
 * @property {() => import('./transport.js').Transport} transport
 * @property {() => import('./framing.js').Framing} framing
 */

/** @type {Record<string, (options: any) => LineSettings>} */
const lineSettings = {
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
 * The line to a device: its own, or the one that others at the same address already use.
 * @param {any} options  as in the device's schema
 * @param {() => number} random
 * @returns {{line: Line, isShared: boolean, release: () => Promise<void>}} the last release closes it
 * @throws {SluiceError} SLUICE_OPTIONS where it is in use with other settings
 */
export function leaseLine (options, random) {
  const { key, settings, transport, framing } = lineSettings[options.connection](options)
  const { firstRetryMs, longestRetryMs } = options
  const open = () => new Line(transport(), framing(), { firstRetryMs, longestRetryMs, random })
  if (key === null) {
    const line = open()
    return { line, isShared: false, release: () => line.close() }
  }

  const lease = shared.get(key) ?? { line: open(), settings, leases: 0 }
  if (lease.settings !== settings) {
    const text = `${options.path} is in use with ${lease.settings}, and cannot have ${settings} at the same time.`
    throw new SluiceError('SLUICE_OPTIONS', text, { fix: 'Give all devices of a serial line the same settings, and deploy them together.' })
  }
  lease.leases++
  shared.set(key, lease)
  const release = async () => {
    if (--lease.leases > 0) return
    shared.delete(key)
    await lease.line.close()
  }
  return { line: lease.line, isShared: true, release }
}
