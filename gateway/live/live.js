import { join } from 'node:path'
import { WebSocketServer } from 'ws'
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
 */

const INTERVAL_MS = 250
/** A viewer that reads too slowly misses reports instead of filling the gateway's memory. */
const MAX_UNSENT_BYTES = 2 ** 20

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
  const place = { server, httpNode, root, allowHosts: sluice?.allowHosts, dataDir, doctor, history, events, nodes }
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
  #sockets = new WebSocketServer({ noServer: true, clientTracking: true, maxPayload: 1024 })
  #tickets = new Tickets()
  #closed = false
  /** @type {import('../stats/reader.js').Reader|null} */
  #reader = null
  /** @type {NodeJS.Timeout|undefined} */
  #timer

  /** @param {Place} place @param {import('../stats/stats.js').Stats} stats */
  constructor ({ server, httpNode, root, allowHosts, dataDir, doctor, history, events, nodes }, stats) {
    this.streamPath = `${root.replace(/\/$/, '')}/sluice/stream`
    this.server = server
    this.allowHosts = allowHosts
    this.dataDir = dataDir
    this.doctor = doctor
    this.alarms = new AlarmDesk(stats)
    this.history = history
    this.stats = stats
    this.health = new Health(events, nodes, stats)
    const guard = guarded(allowHosts)
    httpNode.use('/sluice', (request, response, next) => {
      if (this.#closed) next()
      else guard(request, response, () => this.#serve(request, response, next))
    })
    server.on('upgrade', this.#upgrade)
    this.#sockets.on('connection', socket => {
      socket.on('error', () => socket.terminate())
      socket.on('close', () => this.#onViewers())
      this.#onViewers()
    })
  }

  close () {
    this.#closed = true
    this.health.close()
    this.server.off('upgrade', this.#upgrade)
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#sockets.close()
    this.#onViewers()
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
      answer(response, { ticket: this.#tickets.issue(), gateway: await gatewayId(this.dataDir()), process: process.pid })
    })
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
    const balances = ledger(meters, this.stats.readBalances())
    return { meters: totals, gauges: this.stats.readGauges(), ledger: balances, host, statuses: Object.fromEntries(statuses) }
  }

  /** @param {IncomingMessage} request @param {import('node:stream').Duplex} socket @param {Buffer} head */
  #upgrade = (request, socket, head) => {
    if (pathOf(request) !== this.streamPath) return
    const refused = refusal(request, this.allowHosts) ?? this.#ticketProblem(request)
    if (refused) return refuseUpgrade(socket, refused)
    this.#sockets.handleUpgrade(request, socket, head, client => this.#sockets.emit('connection', client, request))
  }

  /** @param {IncomingMessage} request */
  #ticketProblem ({ url = '' }) {
    if (this.#tickets.redeem(new URL(url, 'http://gateway').searchParams.get('ticket'))) return null
    return new SluiceError('SLUICE_LOGIN_TICKET', 'The stream of the live page needs a ticket.', { fix: 'Get one from sluice/session.' })
  }

  /** Reads the stats only while somebody looks. */
  #onViewers () {
    const watched = !this.#closed && this.#sockets.clients.size > 0
    if (watched && !this.#reader) {
      this.#reader = this.stats.reader()
      this.#timer = setInterval(() => this.#send(), INTERVAL_MS)
      this.#timer.unref()
    } else if (!watched && this.#reader) {
      clearInterval(this.#timer)
      this.#reader.close()
      this.#reader = null
    }
  }

  #send () {
    const report = JSON.stringify(this.#reader?.read())
    for (const socket of this.#sockets.clients) {
      if (socket.bufferedAmount < MAX_UNSENT_BYTES) socket.send(report)
    }
  }
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
