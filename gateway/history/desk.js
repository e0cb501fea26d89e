import { setImmediate } from 'node:timers/promises'
import { decoded } from '../base/decoded.js'
import { describe, SluiceError } from '../base/errors.js'
import { refuse } from '../web/refuse.js'
import { asked } from './query.js'
import { HOUR_MS } from './spans.js'

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 * @typedef {import('./history.js').History} History
 * @typedef {import('./query.js').Answer} Answer
 */

const POINTS = 600
/** Lines of CSV that are made at a time, and then others have the event loop. */
const LINES = 200

/**
 * Answers `history/series` (all there is), `history` (JSON) and `history.csv`.
 * @param {History} history
 * @param {IncomingMessage} request
 * @param {ServerResponse} response
 * @param {Record<string, string>} headers
 * @returns {boolean} whether it is for the history
 */
export function serveHistory (history, { method, url = '' }, response, headers) {
  if (method !== 'GET') return false
  const [path, parameters = ''] = url.split('?')
  const work = WORK[path]
  if (!work) return false
  const begin = (/** @type {string} */ type) => response.writeHead(200, { ...headers, 'Cache-Control': 'no-store', 'Content-Type': type })
  work(history, new URLSearchParams(parameters), begin).catch(error => {
    if (response.headersSent) response.destroy()
    else if (error instanceof SluiceError) refuse(response, error)
    else response.writeHead(500, headers).end(describe(error))
  })
  return true
}

/** @type {Record<string, (history: History, parameters: URLSearchParams, begin: (type: string) => ServerResponse) => Promise<void>>} */
const WORK = {
  async '/history/series' (history, _parameters, begin) {
    const listed = await history.list()
    begin('application/json').end(JSON.stringify(listed))
  },

  async '/history' (history, parameters, begin) {
    const { series, ...steps } = await ask(history, parameters)
    const response = begin('application/json')
    response.write(`${JSON.stringify(steps).slice(0, -1)},"series":{`)
    for (const [i, [key, values]] of Object.entries(series).entries()) {
      response.write(`${i > 0 ? ',' : ''}${JSON.stringify(key)}:${JSON.stringify(values)}`)
      await setImmediate()
    }
    response.end('}}')
  },

  async '/history.csv' (history, parameters, begin) {
    const names = new Map((await history.list()).map(({ key, subject }) => [key, subject.name]))
    const { series, fromMs, stepMs } = await ask(history, parameters)
    const response = begin('text/csv; charset=utf-8')
    const titles = Object.keys(series).map(key => titleOf(key, names.get(key)))
    response.write(`${['time', ...titles].map(quoted).join(',')}\r\n`)
    const columns = Object.values(series)
    for (let first = 0; first < columns[0].length; first += LINES) {
      const lines = Array.from({ length: Math.min(LINES, columns[0].length - first) }, (_, i) => {
        const time = new Date(fromMs + (first + i) * stepMs).toISOString()
        return `${[time, ...columns.map(values => values[first + i] ?? '')].join(',')}\r\n`
      })
      response.write(lines.join(''))
      await setImmediate()
    }
    response.end()
  }
}

/** @param {History} history @param {URLSearchParams} parameters */
function ask (history, parameters) {
  const number = (/** @type {string} */ name, /** @type {number} */ otherwise) => Number(parameters.get(name) ?? otherwise)
  const toMs = number('to', Date.now())
  const keys = parameters.getAll('series').flatMap(some => some.split(',')).filter(Boolean)
  return history.query({ fromMs: number('from', toMs - HOUR_MS), toMs, points: number('points', POINTS) }, [...new Set(keys)])
}

/** `sink plant rows (rows/s)`. @param {string} key @param {string} [name] */
function titleOf (key, name) {
  const [type, id] = key.split('/')
  const { name: measure, unit } = /** @type {import('./query.js').Asked} */ (asked(key)).measure
  return `${type} ${name ?? decoded(id)} ${measure}${unit && ` (${unit})`}`
}

/** @param {string} text */
function quoted (text) { return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text }
