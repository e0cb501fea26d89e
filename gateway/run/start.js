import { once } from 'node:events'
import { createServer } from 'node:http'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gatewayId } from '../../broker/gateway-id.js'
import { namingDisk } from '../base/disk-full.js'
import { describe, SluiceError } from '../base/errors.js'
import { metricsOf, mountLive, unmountLive } from '../live/live.js'
import { isOtlpWanted, startOtlp } from '../metrics/otlp.js'
import { stats } from '../stats/stats.js'
import { guardComms } from '../web/comms.js'
import { guarded, refusal } from '../web/guard.js'
import { isLoopback } from '../web/hosts.js'
import { Login } from '../web/login.js'
import { createTlsServer } from '../web/tls.js'
import { guardUpgrades } from '../web/upgrades.js'
import { readUsers } from '../web/users.js'
import { watchFlow } from './flow-state.js'
import { loadNodeRed } from './node-red.js'
import { guardSecretFiles } from './secret-files.js'
import { gatewaySettings } from './settings.js'
import { lockUserDir, namingUserDir } from './user-dir-lock.js'

const DRAIN_MS = 15_000

/**
 * @typedef {object} Gateway
 * @property {string} editorUrl
 * @property {string} liveUrl
 * @property {number} port
 * @property {() => Promise<boolean>} stop  stops the flows and everything else; true when all was drained within 15 s
 */

/**
 * Runs Node-RED with the nodes of this package and a flow, in this process: once, as Node-RED cannot be started a second time.
 * @param {object} options
 * @param {string} options.userDir  made when missing
 * @param {number} [options.port]  0 picks a free one
 * @param {string} [options.host]  beyond this machine only with users who have to log in
 * @param {readonly string[]} [options.allowHosts]  names under which the gateway is reached, besides the machine's own
 * @param {string} [options.metricsToken]  with which a program without a login may read the metrics
 * @param {{cert: string, key: string}} [options.tls]  PEM; with it, everything is https
 * @param {string} [options.flowFile]  instead of the user folder's own
 * @param {string} [options.firstFlow]  what a user folder without a flow begins with, instead of the default flow
 * @param {import('../doctor/flow.js').SchemaOf} [options.schemaOf]  for the doctor
 * @param {(line: string) => void} [options.log]  gets Node-RED's warnings and errors, one line each
 * @param {(state: string) => void} [options.onFlow]  gets a line whenever the flow has started, and whenever it does not run
 * @returns {Promise<Gateway>}
 * @throws {SluiceError} SLUICE_PORT_TAKEN, SLUICE_USER_DIR_IN_USE, SLUICE_USER_DIR, SLUICE_FLOW_FILE, SLUICE_NODE_RED_MISSING,
 *   SLUICE_LOGIN_MISSING, SLUICE_LOGIN_USERS, SLUICE_TLS_FILE, SLUICE_DISK_FULL
 */
export async function startGateway (options) {
  const { userDir, port = 1880, host = '127.0.0.1', allowHosts = [], metricsToken, tls, flowFile, firstFlow } = options
  const { schemaOf, onFlow = () => {}, log = console.error } = options
  const folder = resolve(userDir)
  const { RED, express, WebSocketServer } = loadNodeRed()
  const dataDir = join(folder, 'sluice')
  const app = express()
  const server = tls ? createTlsServer(tls, app, allowHosts) : createServer(app)
  const unlock = lockUserDir(folder)
  let stopSending = async () => {}
  try {
    process.env.SLUICE_GATEWAY_ID = await gatewayId(dataDir) // to nodes it is ${SLUICE_GATEWAY_ID}: their user at a broker
    const login = loginFor(folder, host, metricsToken)
    guardUpgrades(server, request => {
      const refused = refusal(request, allowHosts)
      if (refused) throw refused
      return login?.checkUpgrade(request)
    })
    app.use(guarded(allowHosts))
    const ownPort = await listen(server, port, host)
    const settings = gatewaySettings({
      userDir: folder,
      flowFile,
      firstFlow,
      host,
      port: ownPort,
      adminAuth: login?.adminAuth,
      allowHosts,
      log
    })
    RED.init(server, settings)
    mountLive(RED, stats, () => dataDir, schemaOf) // before the flows: that they are starting is to be told, too
    guardComms(WebSocketServer, RED.runtime.comms)
    guardSecretFiles(RED.events, settings, log)
    watchFlow(RED.events, RED.nodes, onFlow)
    if (login) app.post('/auth/token', login.slowDown)
    app.use(settings.httpAdminRoot, RED.httpAdmin)
    if (login) app.use(settings.httpNodeRoot, login.middleware)
    app.use(settings.httpNodeRoot, RED.httpNode)
    await RED.start()
    if (isOtlpWanted()) stopSending = await sendMetrics(server, dataDir, log)
    const editorUrl = `${tls ? 'https' : 'http'}://${urlHost(host)}:${ownPort}/`
    return { editorUrl, liveUrl: `${editorUrl}sluice/`, port: ownPort, stop }
  } catch (error) {
    server.close()
    unlock()
    throw namingUserDir(namingDisk(error, folder), folder)
  }

  async function stop () {
    const drained = await Promise.race([
      RED.stop().then(() => true),
      setTimeout(DRAIN_MS, false, { ref: false })
    ])
    await stopSending()
    await unmountLive(server)
    server.close()
    server.closeAllConnections()
    unlock()
    return drained
  }
}

/**
 * To a collector; without that, the gateway does everything else.
 * @param {import('node:http').Server} server
 * @param {string} dataDir
 * @param {(line: string) => void} log
 */
async function sendMetrics (server, dataDir, log) {
  try {
    return await startOtlp({ families: () => metricsOf(server), gatewayId: await gatewayId(dataDir), log })
  } catch (error) {
    log(describe(error))
    return async () => {}
  }
}

/**
 * Null where nobody has to log in, which is only on this machine.
 * @param {string} userDir
 * @param {string} host
 * @param {string|undefined} metricsToken
 */
function loginFor (userDir, host, metricsToken) {
  const users = readUsers(userDir)
  if (users.size > 0) return new Login(users, { metricsToken })
  if (isLoopback(host)) return null
  throw new SluiceError('SLUICE_LOGIN_MISSING', `On ${host} others reach the gateway, and nobody has to log in.`, {
    fix: 'Enter who may with sluice start --login, or from a file with --login-file.'
  })
}

/** How to get there from here: where it listens on all addresses, by the machine's name. @param {string} host */
function urlHost (host) {
  if (host === '0.0.0.0' || host === '::') return hostname()
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Listens before anything else is started: a port that is taken should cost nothing.
 * @param {import('node:http').Server} server
 * @param {number} port
 * @param {string} host
 */
async function listen (server, port, host) {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error
    const fix = 'Choose another with --port or SLUICE_PORT.'
    throw new SluiceError('SLUICE_PORT_TAKEN', PORT_TEXTS[code](port, host), { fix, cause: error })
  }
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port
}

/** @type {Record<'EADDRINUSE'|'EACCES'|'EADDRNOTAVAIL', (port: number, host: string) => string>} */
const PORT_TEXTS = {
  EADDRINUSE: (port, host) => `Port ${port} on ${host} is taken by another program.`,
  EACCES: port => `Port ${port} may not be used by this user.`,
  EADDRNOTAVAIL: (_port, host) => `This machine has no address ${host}.`
}
