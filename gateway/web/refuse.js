import { STATUS_CODES } from 'node:http'
import { describe } from '../base/errors.js'

/** What a browser asks its user for name and password for. */
const CHALLENGE = { 'WWW-Authenticate': 'Basic realm="Sluice", charset="UTF-8"' }

/** By code; all others are 403. @type {Record<string, number>} */
const STATUS = {
  SLUICE_HISTORY_QUERY: 400,
  SLUICE_LOGIN_NEEDED: 401,
  SLUICE_LOGIN_TICKET: 401,
  SLUICE_ALARM_UNKNOWN: 404,
  SLUICE_LOGIN_WAIT: 429
}

/** Answers with the code and what to do. @param {import('node:http').ServerResponse} response @param {unknown} error */
export function refuse (response, error) {
  const { status, headers, body } = answerTo(error)
  response.writeHead(status, headers).end(body)
}

/** The same for a request to upgrade, which has no response. @param {import('node:stream').Duplex} socket @param {unknown} error */
export function refuseUpgrade (socket, error) {
  const { status, headers, body } = answerTo(error)
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/** @param {unknown} error */
function answerTo (error) {
  const { code = '' } = /** @type {{code?: string}} */ (error)
  const status = STATUS[code] ?? 403
  const body = `${describe(error)}\n`
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...(code === 'SLUICE_LOGIN_NEEDED' ? CHALLENGE : {})
  }
  return { status, headers, body }
}
