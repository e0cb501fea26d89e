import { SluiceError } from '../../base/errors.js'

const UNPACK = 'Convert or unpack it: python-can, for example, has can_logconvert.'
/** Its times are in a unit that its documents and recordings do not agree on, and its data sometimes hexadecimal instead of base64. */
const DIGITAL_YACHT = 'a log of a Digital Yacht gateway (iKonvert, NavLink)'
const BY_CANBOAT = 'Convert it with ikonvert-serial of canboat, which writes canboat raw.'

/** How logs begin that are not read, byte for byte in Latin-1; what they are; what to do. @type {[string, string, string][]} */
const SIGNATURES = [
  ['LOGG', 'a Vector BLF log', UNPACK],
  ['MDF ', 'an ASAM MDF file', UNPACK],
  ['\u00d4\u00c3\u00b2\u00a1', 'a pcap file', UNPACK],
  ['\u000a\u000d\u000d\u000a', 'a pcapng file', UNPACK],
  ['\u001f\u008b', 'compressed with gzip', UNPACK],
  ['PK\u0003\u0004', 'a ZIP archive', UNPACK],
  ['!PDGY,', DIGITAL_YACHT, BY_CANBOAT],
  ['$PDGY,', DIGITAL_YACHT, BY_CANBOAT]
]
const LONGEST = 6

/**
 * The bytes of a log, unless they are in a format that is known and not read.
 * @param {AsyncIterable<Uint8Array>} bytes
 * @param {string} name
 * @param {string} read  the formats that are
 * @returns {AsyncGenerator<Uint8Array, void>}
 * @throws {SluiceError} SLUICE_CAN_LOG_FORMAT
 */
export async function * refuseUnreadLog (bytes, name, read) {
  let isFirst = true
  for await (const chunk of bytes) {
    const format = isFirst && formatOf(Buffer.from(chunk.subarray(0, LONGEST)).toString('latin1'))
    if (format) {
      const [, what, fix] = format
      throw new SluiceError('SLUICE_CAN_LOG_FORMAT', `${name} is ${what}, which is not read.`, {
        fix: `Logs are read in these formats: ${read}. ${fix}`
      })
    }
    isFirst = false
    yield chunk
  }
}

/** Why a line is not read, where its format is known. @param {string} line */
export function whyUnread (line) {
  const format = formatOf(line)
  return format && `${format[1]}, which is not read; ${format[2]}`
}

/** @param {string} start */
function formatOf (start) {
  return SIGNATURES.find(([signature]) => start.startsWith(signature))
}
