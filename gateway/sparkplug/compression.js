import { unzipSync } from 'node:zlib'
import { SluiceError } from '../base/errors.js'
import { tooLarge } from '../messages/bounds.js'

/** @typedef {import('./sparkplug_b_pb.js').Payload} Payload */

/** The `uuid` of a payload whose body is another one, compressed (specification 2.2, and Eclipse Tahu). */
const COMPRESSED = 'SPBV1.0_COMPRESSED'

/** What its metric `algorithm` may be; without one it is DEFLATE. Which of them it is, the bytes say themselves. */
const ALGORITHMS = ['GZIP', 'DEFLATE']

/** Of a payload once it is decompressed. */
const MAX_BYTES = 16 * 2 ** 20

/** @param {Payload} payload */
export function isCompressed ({ uuid }) {
  return uuid === COMPRESSED
}

/**
 * What is in a compressed payload.
 * @param {Payload} payload
 * @returns {Uint8Array}
 * @throws {SluiceError} SLUICE_SPARKPLUG, SLUICE_MESSAGE_TOO_LARGE
 */
export function decompress ({ body, metrics }) {
  const named = metrics.find(({ name }) => name === 'algorithm')?.value
  const algorithm = named?.case === 'stringValue' ? named.value : 'DEFLATE'
  if (!ALGORITHMS.includes(algorithm.toUpperCase())) throw unreadable(`is compressed by "${algorithm.slice(0, 20)}"`)
  if (body.length === 0) throw unreadable('is compressed and has nothing in it')
  try {
    return unzipSync(body, { maxOutputLength: MAX_BYTES })
  } catch (cause) {
    const isTooLarge = /** @type {{code?: string}} */ (cause).code === 'ERR_BUFFER_TOO_LARGE'
    throw isTooLarge ? tooLarge(`decompressed, it has over ${MAX_BYTES / 2 ** 20} MiB`) : unreadable('cannot be decompressed', cause)
  }
}

/** @param {string} what @param {unknown} [cause] */
export function unreadable (what, cause) {
  return new SluiceError('SLUICE_SPARKPLUG', `The payload ${what}.`, { cause, fix: 'Have the node send it uncompressed.' })
}
