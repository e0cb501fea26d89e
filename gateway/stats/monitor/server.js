import { once } from 'node:events'
import { createServer } from 'node:http'
import { SluiceError, describe } from '../../base/errors.js'
import { isEqual } from '../../web/login.js'

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

/** So long that nobody guesses it. */
const MIN_TOKEN = 16
const MAX_CONNECTIONS = 20
const HEADERS = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }

/** Where a sample is, below the address; `?fresh` asks for one with what is dear. */
export const SAMPLE_PATH = '/sample'

/**
 * Serves the samples of a monitor to whoever has the token, on this machine, too: other users of it, and pages in its browsers, can reach
 * every port.
 * @param {import('./usage.js').Monitor} monitor
 * @param {{token: string, host?: string, port?: number}} options
 * @returns {Promise<{url: string, close: () => Promise<void>}>}
 */
export async function serveMonitor (monitor, { token, host = '127.0.0.1', port = 0 }) {
  checkToken(token)
  const samples = new Shared(monitor)
  const server = createServer((request, response) => answer(request, response, { samples, token }))
  server.maxConnections = MAX_CONNECTIONS
  try {
    await once(server.listen(port, host), 'listening')
  } catch (cause) {
    throw new SluiceError('SLUICE_MONITOR_PORT', `The monitor cannot listen on ${host}, port ${port}: ${describe(cause)}.`, {
      fix: 'Stop the program that uses it, or choose another one with --host and --port.', cause
    })
  }
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `http://${name}:${address.port}`,
    async close () {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    }
  }
}

/** @param {string} token @throws {SluiceError} SLUICE_MONITOR_ACCESS, which does not show it */
export function checkToken (token) {
  if (token.length >= MIN_TOKEN && /^[\x21-\x7e]+$/.test(token)) return
  throw new SluiceError('SLUICE_MONITOR_ACCESS', `The token must have at least ${MIN_TOKEN} characters, ASCII and no spaces.`, {
    fix: 'Make one, such as: openssl rand -hex 32.'
  })
}

/** Those who ask at the same time get the same: a reading takes its time, however many there are. */
class Shared {
  /** @type {Map<boolean, Promise<import('./usage.js').Sample>>} */
  #readings = new Map()
  #monitor

  /** @param {import('./usage.js').Monitor} monitor */
  constructor (monitor) {
    this.#monitor = monitor
  }

  /** @param {boolean} fresh */
  read (fresh) {
    const running = this.#readings.get(fresh)
    if (running) return running
    const reading = this.#monitor.read({ fresh }).finally(() => this.#readings.delete(fresh))
    this.#readings.set(fresh, reading)
    return reading
  }
}

/** @param {IncomingMessage} request @param {ServerResponse} response @param {{samples: Shared, token: string}} served */
async function answer ({ method, url = '/', headers }, response, { samples, token }) {
  const [, scheme, proof] = /^(\S+) +(\S+)$/.exec(headers.authorization ?? '') ?? []
  if (scheme?.toLowerCase() !== 'bearer' || !isEqual(proof, token)) {
    return refuse(response, 401, 'SLUICE_MONITOR_ACCESS: The token is missing or wrong.')
  }
  const [path, query] = url.split('?')
  if (method !== 'GET' || path !== SAMPLE_PATH) return refuse(response, 404, `There is nothing but GET ${SAMPLE_PATH}.`)
  try {
    const sample = await samples.read(new URLSearchParams(query).has('fresh'))
    response.writeHead(200, HEADERS).end(JSON.stringify(sample))
  } catch (error) {
    refuse(response, 500, describe(error))
  }
}

/** @param {ServerResponse} response @param {number} status @param {string} error */
function refuse (response, status, error) {
  const challenge = status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}
  response.writeHead(status, { ...HEADERS, ...challenge }).end(JSON.stringify({ error }))
}
