import { createServer as createPlainServer } from 'node:http'
import { createServer } from 'node:https'
import { SluiceError } from '../base/errors.js'
import { isKnownHost } from './hosts.js'
import { refuse } from './refuse.js'

/** Begins what a client that speaks TLS sends first. */
const HANDSHAKE = 22
/** How long a connection may take to send that. */
const PATIENCE_MS = 10_000

/**
 * A server of https, which sends those that speak http to its port on to the same place by https.
 * @param {{cert: string, key: string}} tls  PEM
 * @param {import('node:http').RequestListener} app
 * @param {readonly string[]} allowHosts
 * @throws {SluiceError} SLUICE_TLS_FILE
 */
export function createTlsServer (tls, app, allowHosts) {
  const server = serverWith(tls, app)
  const plain = createPlainServer(({ headers: { host }, url = '/' }, response) => {
    if (isKnownHost(host, allowHosts)) response.writeHead(308, { Location: `https://${host}${url}`, Connection: 'close' }).end()
    else refuse(response, new SluiceError('SLUICE_WEB_HOST', `The gateway is not known as "${host}".`))
  })
  /** @type {(event: string, ...details: any[]) => boolean} */
  const emit = server.emit.bind(server)
  server.emit = (/** @type {string} */ event, /** @type {any[]} */ ...details) => {
    if (event !== 'connection') return emit(event, ...details)
    tell(details[0], isTls => isTls ? emit(event, ...details) : plain.emit('connection', details[0]))
    return true
  }
  return server
}

/** @param {{cert: string, key: string}} tls @param {import('node:http').RequestListener} app */
function serverWith (tls, app) {
  try {
    return createServer(tls, app)
  } catch (cause) {
    throw new SluiceError('SLUICE_TLS_FILE', 'The certificate and the key of --tls-cert and --tls-key cannot be used.', {
      fix: 'Both must be PEM, belong together, and the key have no password.', cause
    })
  }
}

/**
 * Looks at a connection's first byte, and leaves it there.
 * @param {import('node:net').Socket} socket
 * @param {(isTls: boolean) => void} told
 */
function tell (socket, told) {
  const breakOff = () => socket.destroy()
  socket.setTimeout(PATIENCE_MS, breakOff)
  socket.on('error', breakOff)
  socket.once('readable', () => {
    socket.setTimeout(0, breakOff)
    socket.off('error', breakOff)
    const first = socket.read(1)
    if (first === null) return breakOff()
    socket.unshift(first)
    told(first[0] === HANDSHAKE)
  })
}
