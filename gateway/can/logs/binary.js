import { SluiceError } from '../../base/errors.js'
import { LOG_FORMATS } from './log-lines.js'

/** How logs begin that are no text, byte for byte in Latin-1. @type {[string, string][]} */
const SIGNATURES = [
  ['LOGG', 'a Vector BLF log'],
  ['MDF ', 'an ASAM MDF file'],
  ['\u00d4\u00c3\u00b2\u00a1', 'a pcap file'],
  ['\u000a\u000d\u000d\u000a', 'a pcapng file'],
  ['\u001f\u008b', 'compressed with gzip'],
  ['PK\u0003\u0004', 'a ZIP archive']
]
const LONGEST = 4

/**
 * The bytes of a log, unless they are in a format that is known and not read.
 * @param {AsyncIterable<Uint8Array>} bytes
 * @param {string} name
 * @returns {AsyncGenerator<Uint8Array, void>}
 * @throws {SluiceError} SLUICE_CAN_LOG_FORMAT
 */
export async function * refuseBinaryLog (bytes, name) {
  let isFirst = true
  for await (const chunk of bytes) {
    const format = isFirst && formatOf(chunk)
    if (format) {
      throw new SluiceError('SLUICE_CAN_LOG_FORMAT', `${name} is ${format}, which is not read.`, {
        fix: `Logs are read in these formats: ${LOG_FORMATS}. Convert or unpack it: python-can, for example, has can_logconvert.`
      })
    }
    isFirst = false
    yield chunk
  }
}

/** @param {Uint8Array} bytes */
function formatOf (bytes) {
  const start = Buffer.from(bytes.subarray(0, LONGEST)).toString('latin1')
  return SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1]
}
