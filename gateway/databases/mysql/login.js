import { connect } from 'node:net'
import mysql from 'mysql2'
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS } from '../connecting/limits.js'
import { isPath, tlsOptions } from '../connecting/tls.js'

/**
 * @typedef {object} ServerOptions
 * @property {string} host
 * @property {number} port
 * @property {string} database
 * @property {string} user
 * @property {string} password
 * @property {'off'|'require'|'verify'} tls
 * @property {string} ca
 * @property {boolean} weakLogin
 * @property {number} connections
 */

/** By error number of the server, or code of the driver or system. @type {import('../connecting/failure.js').Fixes} */
export const FIXES = [
  [1040, 'Raise the server\'s max_connections, or lower the connections of its users.'],
  [1044, 'Grant the user rights on the database.'],
  [1045, 'Check user and password, and whether the user may log in from this host.'],
  [1049, 'Create the database, or check its name.'],
  [1130, 'Allow the user to log in from this host.'],
  [1203, 'Raise the user\'s max_user_connections, or lower the connections.'],
  [1698, 'Give the user a password; this one may log in only through the server\'s own socket.'],
  [3159, 'Switch TLS on.'],
  [/key to encrypt the password/, 'Switch TLS on, or give the user the plugin mysql_native_password; otherwise allow weak logins.'],
  ['MYSQL_CLEAR_PASSWORD_NOT_ENABLED', 'Give the user another authentication plugin.'],
  ['ENOENT', 'Check the path of the socket, and that the server runs.'],
  ['HANDSHAKE_NO_SSL_SUPPORT', 'Give the server a certificate, or switch TLS off.']
]

/** "Access denied … (using password: NO)". */
export const NO_PASSWORD = [1045]

/**
 * Ways to log in where the server may ask for the password, encrypted with a key that it sends: without TLS, this may be anyone's key. The
 * driver itself never sends it in plain text without TLS.
 * @type {any}
 */
const SAFE_PLUGINS = Object.fromEntries(/** @type {const} */ (['caching_sha2_password', 'sha256_password']).map(name => {
  const onServerPublicKey = () => { throw new Error('without TLS, the server sends a key to encrypt the password with') }
  const plugin = mysql.authPlugins[name](/** @type {any} */ ({ onServerPublicKey }))
  return [name, (/** @type {any} */ context) => {
    const answer = plugin(context)
    return async (/** @type {Buffer} */ data) => answer(data) // a rejection is the error of the connection
  }]
}))

/**
 * The driver's options for a connection.
 * @param {ServerOptions} options
 * @returns {import('mysql2').ConnectionOptions}
 */
export function connectionOptions (options) {
  const { host, port, database, user, password } = options
  const tls = tlsOptions(options)
  return {
    host,
    database,
    user,
    password,
    stream: () => openSocket(host, port),
    ...tls || options.weakLogin || isPath(host) ? {} : { authPlugins: SAFE_PLUGINS },
    ssl: tls && { ...tls, verifyIdentity: tls.rejectUnauthorized },
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

/** For messages. @param {string} host @param {number} port */
export function placeOf (host, port) {
  return isPath(host) ? host : `${host}:${port}`
}

/** @param {string} host @param {number} port */
export function openSocket (host, port) {
  const socket = isPath(host) ? connect(host) : connect(port, host)
  socket.setNoDelay(true)
  // A host that has lost its power sends nothing more: without this, an answer would be waited for two hours.
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  // The name that TLS compares with the certificate's. Node sets it of names only, and the driver gives none of addresses: those would be
  // compared as "localhost".
  return Object.assign(socket, { _host: host })
}
