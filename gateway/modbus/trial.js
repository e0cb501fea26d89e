import { SluiceError } from '../base/errors.js'
import { openDevice } from './device.js'

/** Exceptions of a device that has understood the request, and has no such register or is busy: it is there. */
const THERE = new Set([1, 2, 3, 4, 5, 6, 8])

/** @type {Record<string, (serial: boolean) => string>} */
const FIXES = {
  SLUICE_MODBUS_TIMEOUT: serial => serial
    ? 'The port is open: check the unit, baud rate, parity and stop bits, and the wires.'
    : 'The connection was made: check the unit, and that the device speaks this kind of Modbus.',
  SLUICE_MODBUS_DISCONNECTED: serial => serial
    ? 'Check the path of the port, that nothing else has it open, and that this user may open it.'
    : 'Check host and port, and that the device runs.',
  SLUICE_MODBUS_EXCEPTION: () => 'A gateway has answered for the unit: check the unit, and that its device is connected.',
  SLUICE_MODBUS_REPLY: serial => serial
    ? 'Check baud rate, parity and stop bits, and that no two devices have one unit.'
    : 'Check the kind of connection: a gateway that speaks Modbus TCP is TCP, a plain converter RTU over TCP.'
}

/**
 * A device to be tried, as the tests of connections want it.
 * @param {any} options  as in the device's schema
 */
export function connect (options) {
  const device = openDevice(options)
  return {
    /** @param {{signal: AbortSignal}} context @returns {Promise<string>} what is there */
    async test ({ signal }) {
      const { connection, host, port, path, unit } = options
      const isSerial = connection === 'rtu'
      const place = `Unit ${unit} at ${isSerial ? path : `${host}:${port}`}`
      try {
        const [value] = await device.read('holding-registers', 0, 1, { signal })
        return `${place} answers: holding register 0 is ${value}.`
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error
        const { exception } = /** @type {{exception?: number}} */ (error.details ?? {})
        if (exception !== undefined && THERE.has(exception)) {
          return `${place} answers, if not to holding register 0 (exception ${exception}).`
        }
        throw new SluiceError(/** @type {`SLUICE_${string}`} */ (error.code), error.message, {
          cause: error, fix: error.fix ? undefined : FIXES[error.code]?.(isSerial)
        })
      }
    },
    close: () => device.close()
  }
}
