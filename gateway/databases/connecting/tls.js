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
