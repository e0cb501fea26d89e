import { readFileSync } from 'node:fs'
import { describe, SluiceError } from '../../base/errors.js'

/**
 * Options of Node's `tls.connect` by those of a connection.
 * @param {{tls: string, ca: string}} options  `ca` is PEM text, a path, or empty
 * @returns {{rejectUnauthorized: boolean, ca?: string}|undefined} undefined where they ask for no TLS
 * @throws {SluiceError} SLUICE_SINK_CONNECT
 */
export function tlsOptions ({ tls, ca }) {
  if (tls === 'require') return { rejectUnauthorized: false }
  if (tls === 'verify') return { rejectUnauthorized: true, ca: ca === '' ? undefined : pem(ca) }
}

/**
 * What to know of a connection that others could listen to; empty where none can.
 * @param {{host: string, tls: string}} options  `host` may be the path of a socket
 */
export function plainTextAdvice ({ host, tls }) {
  if (tls !== 'off' || isLocal(host)) return ''
  return 'The connection is not encrypted: whoever is in between reads and changes what is sent. Switch TLS on.'
}

/** Whether it is this machine. @param {string} host */
export function isLocal (host) {
  return isPath(host) || /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)
}

/** Whether a host is the path of a socket, which nobody else answers at. @param {string} host */
export function isPath (host) {
  return host.startsWith('/')
}

/** @param {string} textOrPath */
function pem (textOrPath) {
  if (textOrPath.includes('-----BEGIN')) return textOrPath
  try {
    return readFileSync(textOrPath, 'utf8')
  } catch (error) {
    throw new SluiceError('SLUICE_SINK_CONNECT', `The CA certificate cannot be read: ${describe(error)}.`, {
      cause: error, fix: 'Give the path of a PEM file, or its text.'
    })
  }
}
