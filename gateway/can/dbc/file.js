import { readFileSync } from 'node:fs'
import { describe, SluiceError } from '../../base/errors.js'
import { refuseOtherFormats } from './other-formats.js'
import { parseDbc } from './parser.js'

/**
 * Reads a DBC file in UTF-8 or, as most tools write it, Windows-1252.
 * @param {string} path
 * @param {import('./parser.js').DbcOptions} [options]
 * @returns {import('./parser.js').Dbc}
 * @throws {SluiceError} SLUICE_DBC_FILE when it cannot be read, SLUICE_DBC_FORMAT when it is another database, SLUICE_DBC_EMPTY when it
 *   holds no message
 */
export function readDbcFile (path, options) {
  let bytes
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    throw new SluiceError('SLUICE_DBC_FILE', `The DBC file ${path} cannot be read: ${describe(cause)}.`, {
      cause, fix: 'Check the path and its permissions.'
    })
  }
  const text = decodeText(bytes)
  const dbc = parseDbc(text, options)
  if (dbc.messages.length === 0) {
    refuseOtherFormats(text, path)
    const [first] = dbc.warnings
    throw new SluiceError('SLUICE_DBC_EMPTY', `The DBC file ${path} holds no message` +
      (first ? ` (line ${first.line}: ${first.reason}).` : '.'), { fix: 'Check that it is a DBC file.' })
  }
  return dbc
}

/** @param {Uint8Array} bytes */
function decodeText (bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
