import { SluiceError } from '../base/errors.js'
import { readOptions } from '../base/options.js'
import { schema } from './device.schema.js'
import { leaseLine } from './wire/lines.js'
import { isBits, MAX_WRITTEN, readRequest, writeRequest } from './wire/pdu.js'

/**
 * @typedef {import('./wire/pdu.js').Area} Area
 * @typedef {import('./wire/station.js').Health} Health
 *
 * @typedef {object} Device
 * @property {{maxRegisters: number, maxBits: number, maxGapRegisters: number, maxGapBits: number}} limits
 * @property {(area: Area, address: number, count: number, options?: {signal?: AbortSignal}) => Promise<Uint16Array|Uint8Array>} read
 *   registers, or bits as 0 and 1. One request, and its retries while the device is busy
 * @property {(area: 'coils'|'holding-registers', address: number, values: ArrayLike<number>, options?: {signal?: AbortSignal}) =>
 *   Promise<void>} write in one request
 * @property {Health} health
 * @property {() => Promise<void>} close  pending requests are rejected; the line is closed with its last device
 */

const TIMEOUTS_BETWEEN_PROBES = 2

/**
 * A Modbus device. It connects by itself and never gives up. Devices that share a line take turns.
 *
 * Reading and writing reject with a SluiceError whose `details.quality` is the reason in a few words: SLUICE_MODBUS_TIMEOUT,
 * SLUICE_MODBUS_DISCONNECTED, SLUICE_MODBUS_SERIALPORT, SLUICE_MODBUS_EXCEPTION (`details.exception`), SLUICE_MODBUS_REPLY (the reply does
 * not fit the request), SLUICE_MODBUS_SILENT (not asked, because it did not answer before; `details.retryInMs`), SLUICE_MODBUS_BUSY (too
 * many requests wait) and SLUICE_MODBUS_CLOSED; with SLUICE_MODBUS_REQUEST where the request itself is invalid; and with their signal's
 * reason.
 * @param {object} options  as in the schema
 * @param {{log?: import('../base/log.js').Log, random?: () => number}} [context]  `random` spreads the retries
 * @returns {Device}
 * @throws {SluiceError} SLUICE_OPTIONS
 */
export function openDevice (options, { log, random = Math.random } = {}) {
  const settings = readOptions(schema, options)
  const { maxRegisters, maxBits, maxGapRegisters, maxGapBits, writeMultiple } = settings
  const { line, isShared, release } = leaseLine(settings, random)
  const station = line.join({ ...settings, minBackoffMs: minBackoffMs(settings, isShared) }, { log })
  let closing = /** @type {Promise<void>|null} */ (null)

  return {
    limits: { maxRegisters, maxBits, maxGapRegisters, maxGapBits },
    health: station.health,
    async read (area, address, count, { signal } = {}) {
      refuseMore(count, isBits(area) ? maxBits : maxRegisters)
      return station.ask(readRequest(area, address, count), signal)
    },
    async write (area, address, values, { signal } = {}) {
      refuseMore(values.length, isBits(area) ? Math.min(maxBits, MAX_WRITTEN.bits) : Math.min(maxRegisters, MAX_WRITTEN.registers))
      await station.ask(writeRequest(area, address, values, { multiple: writeMultiple }), signal)
    },
    close () {
      if (!closing) line.leave(station)
      return (closing ??= release())
    }
  }
}

/**
 * A device that does not answer delays no other on a line of its own; on a shared one, each try costs the others a timeout.
 * @param {any} settings
 * @param {boolean} isShared
 */
function minBackoffMs ({ firstRetryMs, timeoutMs }, isShared) {
  return isShared ? Math.max(firstRetryMs, TIMEOUTS_BETWEEN_PROBES * timeoutMs) : firstRetryMs
}

/** @param {number} count @param {number} max */
function refuseMore (count, max) {
  if (count > max) throw new SluiceError('SLUICE_MODBUS_REQUEST', `The device accepts at most ${max} values a request, not ${count}.`)
}
