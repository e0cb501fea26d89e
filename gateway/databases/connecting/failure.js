import { describe, SluiceError } from '../../base/errors.js'

/** @typedef {[sign: string|number|RegExp, fix: string][]} Fixes  by the code or number of an error, or by words in its message */

const NO_TLS_THERE = 'Check the port and whether the server expects TLS there.'
const OTHER_AUTHORITY = 'Set the CA certificate that signed the server\'s.'

/** What to do about the usual reasons why there is no connection; of TLS errors, some drivers keep only the text. @type {Fixes} */
const NETWORK_FIXES = [
  ['ECONNREFUSED', 'Check host and port, and that the server runs.'],
  ['ENOTFOUND', 'Check the host name.'],
  ['EAI_AGAIN', 'Check the host name and the network.'],
  ['ETIMEDOUT', 'Check host and port, and whether a firewall is in between.'],
  ['EPROTO', NO_TLS_THERE],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NO_TLS_THERE],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NO_TLS_THERE],
  [/self-signed certificate in certificate chain|unable to (verify the first|get local issuer) certificate/, OTHER_AUTHORITY],
  [/self-signed certificate/, 'Set the server\'s certificate as CA certificate.'],
  [/altnames/, 'Use a host name or address that is in the server\'s certificate.']
]

/**
 * What to do about an error or one of its causes.
 * @param {unknown} error
 * @param {Fixes} [own]  of the database: they come first
 * @returns {string|undefined}
 */
export function fixFor (error, own = []) {
  return fixIn(error, [...own, ...NETWORK_FIXES])
}

/** @param {unknown} error @param {Fixes} fixes */
function fixIn (error, fixes) {
  for (let cause = /** @type {any} */ (error); cause; cause = cause.cause ?? cause.errors?.[0]) {
    const { code, errno, number, message } = cause
    const found = fixes.find(([sign]) => sign instanceof RegExp ? sign.test(message) : [code, errno, number].includes(sign))
    if (found) return found[1]
  }
}

/**
 * @param {string} place  what was to be reached
 * @param {unknown} error
 * @param {Fixes} [own]  of the database
 * @param {string} [otherwise]  the fix of errors that have none
 */
export function connectError (place, error, own, otherwise) {
  if (error instanceof SluiceError) return error
  return new SluiceError('SLUICE_SINK_CONNECT', `No connection to ${place}: ${reasonOf(error)}.`, {
    cause: error, fix: fixFor(error, own) ?? otherwise
  })
}

/**
 * A login that is refused because no password was given, which servers and drivers say in words that lead elsewhere; any other error as
 * it is.
 * @param {unknown} error
 * @param {string} place
 * @param {{user: string, password: string}} given
 * @param {(string|number|RegExp)[]} signs  of a refused login
 */
export function orPasswordMissing (error, place, { user, password }, signs) {
  return password === '' && fixIn(error, signs.map(sign => [sign, ''])) !== undefined ? passwordMissing(error, place, { user }) : error
}

/**
 * @param {unknown} cause
 * @param {string} place
 * @param {{user: string, what?: string, code?: 'SLUICE_SINK_CONNECT'|'SLUICE_SINK_INFLUXDB'}} more
 */
export function passwordMissing (cause, place, { user, what = 'password', code = 'SLUICE_SINK_CONNECT' }) {
  return new SluiceError(code, `${place} asks for a ${what}, and none is given.`, {
    cause, fix: `Enter the ${what}${user && ` of the user "${user}"`} in the settings of the server.`
  })
}

/** @param {number} ms  for which there was no answer */
export function silence (ms) {
  return Object.assign(new Error(`no answer within ${ms / 1000} s`), { code: 'ETIMEDOUT' })
}

/** @param {number} ms  for which there was no answer to TLS */
export function noHandshake (ms) {
  return Object.assign(new Error(`no TLS handshake within ${ms / 1000} s`), { code: 'EPROTO' })
}

/** An error in one line, for the end of a sentence. A server may answer with all that it was sent. @param {unknown} error */
export function reasonOf (error) {
  const text = describe(error).replace(/\s+/g, ' ').trim().replace(/\.$/, '')
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text
}
