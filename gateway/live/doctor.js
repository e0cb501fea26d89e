import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { describe } from '../base/errors.js'
import { bundleOf } from '../doctor/bundle/bundle.js'
import { examine } from '../doctor/examine.js'
import { reportOf } from '../doctor/report.js'
import { Subject } from '../doctor/subject.js'
import { jsonOnly } from '../web/guard.js'
import { HEADERS } from './assets.js'

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 * @typedef {{subject: Subject, examinations: import('../doctor/examine.js').Examination[],
 *   report: Promise<import('../doctor/report.js').Report>}} Visit
 */

/**
 * The doctor, for the page below the live page. `POST doctor/findings` checks, and answers a line of JSON as each check is done and the
 * report as the last; `GET doctor/findings` has the last report; `POST doctor/bundle` checks and answers the bundle. Who asks while it
 * checks gets what is being found.
 */
export class DoctorDesk {
  #RED
  #schemaOf
  /** Under way. @type {Visit|null} */
  #visit = null
  /** @type {import('../doctor/report.js').Report|null} */
  #last = null

  /** @param {any} RED  the runtime, as a node gets it @param {import('../doctor/flow.js').SchemaOf} schemaOf */
  constructor (RED, schemaOf) {
    this.#RED = RED
    this.#schemaOf = schemaOf
  }

  /** @param {IncomingMessage} request @param {ServerResponse} response @returns {boolean} whether it is for the doctor */
  serve (request, response) {
    const { method, url = '' } = request
    const answer = this.#answers.get(`${method} ${url.split('?')[0]}`)
    if (!answer) return false
    const run = () => void answer(response).catch(error => response.end(`${describe(error)}\n`))
    if (method === 'POST') jsonOnly(request, response, run)
    else run()
    return true
  }

  #answerLast = async (/** @type {ServerResponse} */ response) => {
    begin(response, 'application/json').end(JSON.stringify({ report: this.#last }))
  }

  #find = async (/** @type {ServerResponse} */ response) => {
    const { examinations, report } = this.#begin()
    begin(response, 'application/x-ndjson')
    const say = (/** @type {object} */ line) => response.write(`${JSON.stringify(line)}\n`)
    say({ checks: examinations.map(({ check, title }) => ({ check, title })) })
    for (const { check, findings } of examinations) findings.then(found => say({ check, findings: found }))
    say({ report: await report })
    response.end()
  }

  #bundle = async (/** @type {ServerResponse} */ response) => {
    const { subject, report } = this.#begin()
    const bytes = await bundleOf(subject, await report)
    begin(response, 'application/gzip').end(bytes)
  }

  /** @type {Map<string, (response: ServerResponse) => Promise<void>>} */
  #answers = new Map([
    ['GET /doctor/findings', this.#answerLast],
    ['POST /doctor/findings', this.#find],
    ['POST /doctor/bundle', this.#bundle]
  ])

  /** @returns {Visit} */
  #begin () {
    if (this.#visit) return this.#visit
    const subject = new Subject(this.#place())
    const examinations = examine(subject)
    const report = reportOf(subject, examinations).finally(() => { this.#visit = null })
    report.then(done => { this.#last = done }, () => {}) // who has asked gets the error
    this.#visit = { subject, examinations, report }
    return this.#visit
  }

  /** @returns {import('../doctor/subject.js').Place} */
  #place () {
    const { settings, nodes, server, version } = this.#RED
    const userDir = resolve(settings.userDir ?? '.')
    return {
      userDir,
      flowFile: resolve(userDir, settings.flowFile ?? `flows_${hostname()}.json`),
      schemaOf: this.#schemaOf,
      nodeRed: version?.() ?? null,
      port: server.address()?.port,
      credentialsOf: id => nodes?.getCredentials(id)
    }
  }
}

/** @param {ServerResponse} response @param {string} type */
function begin (response, type) {
  return response.writeHead(200, { ...HEADERS, 'Cache-Control': 'no-store', 'Content-Type': type })
}
