import { decoded } from '../base/decoded.js'
import { SluiceError } from '../base/errors.js'
import { jsonOnly } from '../web/guard.js'
import { refuse } from '../web/refuse.js'
import { HEADERS } from './assets.js'

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 */

const ACKNOWLEDGE = /^\/alarms\/([^/]+)\/acknowledge$/

/** The alarms, below the live page: `GET alarms`, and `POST alarms/<id>/acknowledge`, which answers the alarm. */
export class AlarmDesk {
  #stats

  /** @param {import('../stats/stats.js').Stats} stats */
  constructor (stats) {
    this.#stats = stats
  }

  /** @param {IncomingMessage} request @param {ServerResponse} response @returns {boolean} whether it is about alarms */
  serve (request, response) {
    const { method, url = '' } = request
    const [path] = url.split('?')
    const [, id] = ACKNOWLEDGE.exec(path) ?? []
    if (method === 'GET' && path === '/alarms') {
      const { active = [], recent = [] } = this.#stats.alarms ?? {}
      answer(response, { active, recent })
    } else if (method === 'POST' && id !== undefined) {
      jsonOnly(request, response, () => this.#acknowledge(id, response))
    } else {
      return false
    }
    return true
  }

  /** @param {string} encoded @param {ServerResponse} response */
  #acknowledge (encoded, response) {
    const alarm = this.#stats.alarms?.acknowledge(decoded(encoded))
    if (alarm) return answer(response, alarm)
    refuse(response, new SluiceError('SLUICE_ALARM_UNKNOWN', 'No such alarm is raised; it may have been cleared.', {
      fix: 'GET /sluice/alarms lists those that are.'
    }))
  }
}

/** @param {ServerResponse} response @param {object} body */
function answer (response, body) {
  response.writeHead(200, { ...HEADERS, 'Cache-Control': 'no-store', 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
