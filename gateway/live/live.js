import { join } from 'node:path'
import { describe, SluiceError } from '../base/errors.js'
import { version } from '../base/version.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { serveHistory } from '../history/desk.js'
import { History } from '../history/history.js'
import { familiesOf } from '../metrics/families.js'
import { TEXT_TYPE, textOf } from '../metrics/text.js'
import { ledger } from '../stats/ledger.js'
import { guarded, refusal } from '../web/guard.js'
import { isAnonymous } from '../web/login.js'
import { refuseUpgrade } from '../web/refuse.js'
import { AlarmDesk } from './alarms.js'
import { asset, HEADERS } from './assets.js'
import { DoctorDesk } from './doctor.js'
import { Health } from './health.js'
import { sinkDetail, sourceDetail } from './overview/detail.js'
import { Overview } from './overview/overview.js'
import { Said } from './overview/said.js'
import { Stream } from './stream.js'
import { Tickets } from './tickets.js'

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 * @typedef {import('node:http').Server} Server
 * @typedef {object} Place  what of Node-RED the page needs
 * @property {Server} server
 * @property {{use: (path: string, handler: (request: IncomingMessage, response: ServerResponse, next: () => void) => void) => void}}
 *   httpNode
 * @property {string} root  of the pages, as in `/`
 * @property {readonly string[]} [allowHosts]  names under which the page is reached, besides the machine's own
 * @property {() => string} dataDir  where the gateway's id is kept
 * @property {import('./health.js').Events} events
 * @property {import('./unstarted.js').Nodes} nodes
 * @property {DoctorDesk} doctor
 * @property {History} history
 * @property {Said} said
 * @property {string|null} editor  where it is; null where there is none
 */

/** Of whole reports, for programs; and of what the page shows. */
const REPORT_MS = 250
const OVERVIEW_MS = 1000

/** @type {WeakMap<Server, LivePage>} */
const mounted = new WeakMap()

/**
 * Serves the live page at `<httpNodeRoot>/sluice/` and records the history; does nothing where it is served already, or where Node-RED
 * serves no pages.
 * @param {any} RED  the runtime, as a node gets it
 * @param {import('../stats/stats.js').Stats} stats
 * @param {() => string} dataDir  where the gateway's id is kept
 * @param {import('../doctor/flow.js').SchemaOf} [schemaOf]  for the doctor
 */
export function mountLive (RED, stats, dataDir, schemaOf = async () => undefined) {
  const { server, httpNode, settings, events, nodes } = RED
  if (!server || !httpNode || settings.httpNodeRoot === false || mounted.has(server)) return
  const { httpNodeRoot: root = '/', sluice } = settings
  const doctor = new DoctorDesk(RED, schemaOf)
  const history = new History({ stats, folder: () => join(dataDir(), 'history'), log: RED.log })
  history.start()
  const editor = settings.httpAdminRoot === false || settings.disableEditor ? null : settings.httpAdminRoot ?? '/'
  const said = new Said(RED.log)
  const place = { server, httpNode, root, allowHosts: sluice?.allowHosts, dataDir, doctor, history, events, nodes, said, editor }
  mounted.set(server, new LivePage(place, stats))
}

/** All metrics, where the page is served. @param {Server} server */
export async function metricsOf (server) {
  return await mounted.get(server)?.families() ?? []
}

/** Ends every viewer's stream, stops serving the page, and writes what the history has. @param {Server} server */
export async function unmountLive (server) {
  const page = mounted.get(server)
  mounted.delete(server)
  await page?.close()
}

class LivePage {
  #tickets = new Tickets()
  #closed = false
  /** Known before anybody has a ticket. */
  #gateway = ''
  /** While somebody looks, or the last that was. @type {Overview|undefined} */
  #watched

  /** @param {Place} place @param {import('../stats/stats.js').Stats} stats */
  constructor ({ server, httpNode, root, allowHosts, dataDir, doctor, history, events, nodes, said, editor }, stats) {
    this.streamPath = `${root.replace(/\/$/, '')}/sluice/stream`
    this.server = server
    this.allowHosts = allowHosts
    this.dataDir = dataDir
    this.doctor = doctor
    this.alarms = new AlarmDesk(stats)
    this.history = history
    this.stats = stats
    this.said = said
    this.editor = editor
    this.nodes = nodes
    this.health = new Health(events, nodes, stats, said)
    this.reports = new Stream(REPORT_MS, () => reportsOf(stats))
    const isRunning = () => this.health.status === 'running'
    this.overview = new Stream(OVERVIEW_MS, () => this.#watched = new Overview(stats, {
      gateway: this.#gateway, isRunning, editorId: nodeId => this.#editorId(nodeId)
    }))
    const guard = guarded(allowHosts)
    httpNode.use('/sluice', (request, response, next) => {
      if (this.#closed) next()
      else guard(request, response, () => this.#serve(request, response, next))
    })
    server.on('upgrade', this.#upgrade)
  }

  close () {
    this.#closed = true
    this.health.close()
    this.server.off('upgrade', this.#upgrade)
    this.reports.close()
    this.overview.close()
    this.said.close()
    return this.history.close()
  }

  /** @param {IncomingMessage & {originalUrl?: string}} request @param {ServerResponse} response @param {() => void} next */
  #serve (request, response, next) {
    if (this.doctor.serve(request, response) || this.alarms.serve(request, response)) return
    if (serveHistory(this.history, request, response, HEADERS)) return
    if (request.method !== 'GET' && request.method !== 'HEAD') return next()
    const path = pathOf(request)
    if (path === '/' && !pathOf({ url: request.originalUrl }).endsWith('/')) return response.writeHead(302, { Location: 'sluice/' }).end()
    if (path === '/doctor' || path === '/docs') return response.writeHead(302, { Location: `${path.slice(1)}/` }).end()
    if (path === '/session') return this.#openSession(response)
    if (path === '/detail') return this.#answerDetail(request, response, next)
    if (path === '/health') return this.#answerHealth(response)
    if (path === '/health/ready') return this.#answerReady(request, response)
    if (path === '/metrics') return this.#answerMetrics(request, response)
    const found = asset(path)
    if (!found) return next()
    response.writeHead(200, found.headers).end(found.body)
  }

  /** Whether it is alive. @param {ServerResponse} response */
  #answerHealth (response) {
    const { status } = this.health
    answer(response, { status, version }, status === 'running' ? 200 : 503)
  }

  /**
   * Whether all that it is to reach is reached; what is not, it tells only those who may know.
   * @param {IncomingMessage} request
   * @param {ServerResponse} response
   */
  #answerReady (request, response) {
    const { status } = this.health
    const missing = this.health.missing(this.stats.readGauges())
    const isReady = this.#isReady(missing)
    const told = isReady ? 'ready' : status === 'running' ? 'not ready' : status
    answer(response, { status: told, ...!isAnonymous(request) && { missing } }, isReady ? 200 : 503)
  }

  #isReady (missing = this.health.missing(this.stats.readGauges())) {
    return this.health.status === 'running' && missing.length === 0
  }

  /** @param {ServerResponse} response */
  #openSession (response) {
    return answerOrFail(response, async () => {
      this.#gateway = await gatewayId(this.dataDir())
      answer(response, { ticket: this.#tickets.issue(), gateway: this.#gateway, process: process.pid, version, editor: this.editor })
    })
  }

  /** Of one source or sink. @param {IncomingMessage} request @param {ServerResponse} response @param {() => void} next */
  #answerDetail ({ url = '' }, response, next) {
    const { searchParams } = new URL(url, 'http://gateway')
    const about = { gateway: this.#gateway, said: this.said, pulse: this.#watched?.pulse }
    const source = searchParams.get('source')
    const found = source === null
      ? sinkDetail(this.stats, about, searchParams.get('sink') ?? '')
      : sourceDetail(this.stats, about, { name: source, gateway: searchParams.get('gateway') ?? '' })
    if (found) answer(response, { ...found, editorId: found.nodeId === null ? null : this.#editorId(found.nodeId) })
    else next()
  }

  /** By which the editor knows a node: one that a subflow has made is there only as the one it was made of. @param {string} nodeId */
  #editorId (nodeId) {
    return this.nodes.getNode(nodeId)?._alias ?? nodeId
  }

  /** In Prometheus' text format; as JSON to who asks for that. @param {IncomingMessage} request @param {ServerResponse} response */
  #answerMetrics ({ headers: { accept = '' } }, response) {
    response.setHeader('Vary', 'Accept')
    if (accept.includes('application/json')) return answer(response, this.#totals())
    return answerOrFail(response, async () => {
      const text = textOf(await this.families())
      response.writeHead(200, { ...HEADERS, 'Cache-Control': 'no-store', 'Content-Type': TEXT_TYPE }).end(text)
    })
  }

  /** All metrics. */
  async families () {
    return familiesOf(this.stats, { gatewayId: await gatewayId(this.dataDir()), isReady: this.#isReady() })
  }

  /** What has been counted since the start. */
  #totals () {
    const { meters, statuses } = this.stats
    const totals = [...meters].map(({ stage, name, totals: counted }) => ({ stage, name, ...counted }))
    const host = this.stats.host?.report ?? null
    const balances = ledger(this.stats)
    return { meters: totals, gauges: this.stats.readGauges(), ledger: balances, host, statuses: Object.fromEntries(statuses) }
  }

  /** @param {IncomingMessage} request @param {import('node:stream').Duplex} socket @param {Buffer} head */
  #upgrade = (request, socket, head) => {
    if (pathOf(request) !== this.streamPath) return
    const refused = refusal(request, this.allowHosts) ?? this.#ticketProblem(request)
    if (refused) return refuseUpgrade(socket, refused)
    const { searchParams } = new URL(request.url ?? '', 'http://gateway')
    const stream = searchParams.get('view') === 'page' ? this.overview : this.reports
    stream.accept(request, socket, head)
  }

  /** @param {IncomingMessage} request */
  #ticketProblem ({ url = '' }) {
    if (this.#tickets.redeem(new URL(url, 'http://gateway').searchParams.get('ticket'))) return null
    return new SluiceError('SLUICE_LOGIN_TICKET', 'The stream of the live page needs a ticket.', { fix: 'Get one from sluice/session.' })
  }
}

/** Whole reports. @param {import('../stats/stats.js').Stats} stats @returns {import('./stream.js').Feed} */
function reportsOf (stats) {
  const reader = stats.reader()
  return { next: () => JSON.stringify(reader.read()), close: () => reader.close() }
}

/** @param {ServerResponse} response @param {object} body @param {number} [status] */
function answer (response, body, status = 200) {
  response.writeHead(status, { ...HEADERS, 'Cache-Control': 'no-store', 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

/** @param {ServerResponse} response @param {() => Promise<void>} work */
async function answerOrFail (response, work) {
  try {
    await work()
  } catch (error) {
    response.writeHead(500, HEADERS).end(describe(error))
  }
}

/** @param {{url?: string}} request */
function pathOf ({ url = '/' }) {
  return url.split('?')[0]
}
