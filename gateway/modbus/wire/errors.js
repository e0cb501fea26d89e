import { describe, SluiceError } from '../../base/errors.js'
import { EXCEPTIONS } from './pdu.js'

/**
 * Why a request returned no data. Each error's `details.quality` says it in a few words, for the missing values. `where` is a device: "Unit
 * 3 at 10.0.0.5:502".
 */

/** @param {string} where @param {number} ms */
export function timedOut (where, ms) {
  return failure('SLUICE_MODBUS_TIMEOUT', `${where} did not answer within ${Math.round(ms)} ms.`, { quality: 'timeout' })
}

/** @param {string} where @param {number} retryInMs */
export function silent (where, retryInMs) {
  return failure(
    'SLUICE_MODBUS_SILENT',
    `${where} does not answer. It was not asked: the next try is in ${(retryInMs / 1000).toFixed(1)} s.`,
    { quality: 'silent', retryInMs }
  )
}

/** @param {string} where @param {number} exception */
export function refused (where, exception) {
  return failure('SLUICE_MODBUS_EXCEPTION', `${where} refused with exception ${exception} (${EXCEPTIONS[exception] ?? 'unknown'}).`, {
    quality: `exception ${exception}`,
    exception
  })
}

/** @param {string} where @param {string} problem */
export function badReply (where, problem) {
  return failure('SLUICE_MODBUS_REPLY', `${where} sent a bad reply: ${problem}.`, { quality: 'bad reply' })
}

/** @param {string} where @param {number} waiting */
export function busy (where, waiting) {
  return failure(
    'SLUICE_MODBUS_BUSY',
    `${where} is asked faster than it answers: ${waiting} requests wait.`,
    { quality: 'busy' },
    'Poll more slowly, or allow several requests under way.'
  )
}

/** @param {string} where */
export function closed (where) {
  return failure('SLUICE_MODBUS_CLOSED', `${where} was closed.`, { quality: 'closed' })
}

/** @param {string} where @param {unknown} cause */
export function disconnected (where, cause) {
  if (cause instanceof SluiceError && cause.code.startsWith('SLUICE_MODBUS_')) return cause
  return new SluiceError('SLUICE_MODBUS_DISCONNECTED', `${where} is not connected: ${describe(cause)}.`, {
    cause,
    details: { quality: 'disconnected' }
  })
}

/** @param {unknown} cause */
export function noSerialport (cause) {
  return new SluiceError('SLUICE_MODBUS_SERIALPORT', 'Serial lines need the package serialport, which is not installed.', {
    cause,
    fix: 'Run "npm install serialport" in the user directory, and start again.',
    details: { quality: 'disconnected' }
  })
}

/**
 * @param {`SLUICE_${string}`} code
 * @param {string} text
 * @param {{quality: string, [more: string]: unknown}} details
 * @param {string} [fix]
 */
function failure (code, text, details, fix) {
  return new SluiceError(code, text, { details, fix })
}
