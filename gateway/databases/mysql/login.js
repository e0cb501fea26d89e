import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { SluiceError, describe } from '../../base/errors.js'

/**
 * @typedef
 *   {{host: string, port: number, database: string, user: string, password: string, tls: 'off'|'require'|'verify', ca: string, connections: number}}
 *   ServerOptions
 */

const CONNECT_TIMEOUT_MS = 10_000

/** After so long without a word, the other host is asked whether it is there, and 10 s later taken for gone. */
const KEEP_ALIVE_MS = 20_000

/**
 * What to do about the usual reasons why there is no connection, by error number of the server or code of the driver or system.
 * @type {Record<string, string>}
 */
const FIXES = {
  1040: 'Raise the server\'s max_connections, or lower the connections of its users.',
  1044: 'Grant the user rights on the database.',
  1045: 'Check user and password, and whether the user may log in from this host.',
  1049: 'Create the database, or check its name.',
  1130: 'Allow the user to log in from this host.',
  1203: 'Raise the user\'s max_user_connections, or lower the connections.',
  1698: 'Give the user a password; this one may log in only through the server\'s own socket.',
  3159: 'Switch TLS on.',
  ECONNREFUSED: 'Check host and port, and that the server runs.',
  ENOENT: 'Check the path of the socket, and that the server runs.',
  ENOTFOUND: 'Check the host name.',
  EAI_AGAIN: 'Check the host name and the network.',
  ETIMEDOUT: 'Check host and port, and whether a firewall is in between.',
  HANDSHAKE_NO_SSL_SUPPORT: 'Give the server a certificate, or switch TLS off.'
}

/** The same for TLS, of whose errors the driver keeps only the text. @type {[RegExp, string][]} */
const TLS_FIXES = [
  [/self-signed certificate in certificate chain|unable to (verify the first|get local issuer) certificate/, 'Set the CA certificate that signed the server\'s.'],
  [/self-signed certificate/, 'Set the server\'s certificate as CA certificate.'],
  [/altnames/, 'Use a host name or address that is in the server\'s certificate.']
]

/**
 * The driver's options for a connection.
 * @param {ServerOptions} options
 * @returns {import('mysql2').ConnectionOptions}
 */
export function connectionOptions ({ host, port, database, user, password, tls, ca }) {
  return {
    host,
    database,
    user,
    password,
    stream: () => openSocket(host, port),
    ssl: tls === 'off' ? undefined : tls === 'require' ? { rejectUnauthorized: false } : { rejectUnauthorized: true, verifyIdentity: true, ca: certificate(ca) },
    connectTimeout: CONNECT_TIMEOUT_MS,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    dateStrings: true,
    jsonStrings: true,
    supportBigNumbers: true,
    maxPreparedStatements: 100,
    trace: false
  }
}

/** @param {ServerOptions} options @param {unknown} error */
export function connectError ({ host, port, database }, error) {
  return new SluiceError('SLUICE_SINK_CONNECT', `No connection to MySQL at ${placeOf(host, port)}, database "${database}": ${describe(error)}.`, { cause: error, fix: fixFor(error) })
}

/** For messages. @param {string} host @param {number} port */
export function placeOf (host, port) {
  return isPath(host) ? host : `${host}:${port}`
}

/** @param {string} host @param {number} port */
export function openSocket (host, port) {
  const socket = isPath(host) ? connect(host) : connect(port, host)
  socket.setNoDelay(true)
  // A host that has lost its power says nothing: without this, an answer would be waited for two hours.
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  // The name that TLS compares with the certificate's. Node sets it of names only, and the driver gives none of addresses: those would be
  // compared as "localhost".
  return Object.assign(socket, { _host: host })
}

/** @param {string} host */
function isPath (host) {
  return host.startsWith('/')
}

/** @param {string} ca  PEM text, a path, or empty */
function certificate (ca) {
  if (ca === '') return undefined
  return ca.includes('-----BEGIN') ? ca : readFileSync(ca, 'utf8')
}

/** @param {unknown} error */
function fixFor (error) {
  const { code = '', errno = '', errors = [], message = '' } = /** @type {{code?: string, errno?: number, errors?: {code?: string}[], message?: string}} */ (error)
  return FIXES[errno] ?? FIXES[code] ?? FIXES[errors[0]?.code ?? ''] ?? TLS_FIXES.find(([text]) => text.test(message))?.[1]
}
