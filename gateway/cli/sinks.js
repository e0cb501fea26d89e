import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect } from '../../broker/connection/connection.js'
import { RequiredSinks } from '../../broker/spool/required-sinks.js'
import { segmentNames } from '../../broker/spool/segment.js'
import { level, parseTopic, ROOT, topicsOf } from '../../broker/topics.js'
import { SluiceError, describe } from '../base/errors.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { measure } from '../stats/format.js'
import { lockUserDir } from '../run/user-dir-lock.js'

const USAGE = `Usage: sluice sinks list [--user-dir DIR] [--json]
       sluice sinks forget NAME [--user-dir DIR] [--broker URL]

A spool keeps each batch until every sink that ever announced itself has stored it.

list     the sources in the spools, what they take on disk, and the sinks they wait for
forget   waits for this sink no more, and ends its session with the broker. A sink that runs announces itself again: remove it from the flow first

  --user-dir DIR       where the gateway keeps its data (default .sluice)
  --broker URL         the broker it stages in (default mqtt://127.0.0.1:1883)
  --user NAME, --password-env NAME, --ca FILE
                       how to be let in there; the password is read from that environment variable

Exit status: 0; 1 when something failed or the sink is not known; 2 for wrong arguments.
`
/** Retained messages follow a subscription at once; after so long, none is missing. */
const RETAINED_MS = 500

/**
 * @typedef {{source: string, bytes: number, folder: string, requiredSinks: RequiredSinks}} Kept
 * @typedef
 *   {{command: string, name?: string, userDir: string, json: boolean, help: boolean, broker: import('../../broker/connection/connection.js').BrokerOptions}}
 *   Options
 */

/** @type {import('./sluice.js').Command} */
export async function sinks (args, { stdout, stderr }) {
  let options
  try {
    options = readArguments(args)
  } catch (error) {
    stderr.write(`sluice sinks: ${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    stdout.write(USAGE)
    return 0
  }
  try {
    if (options.command === 'list') await list(options, stdout)
    else await forget(/** @type {string} */ (options.name), options, stdout)
    return 0
  } catch (error) {
    stderr.write(`sluice sinks: ${describe(error)}\n`)
    return 1
  }
}

/** @param {string[]} args @returns {Options} */
function readArguments (args) {
  const { values, positionals: [command, name, ...rest] } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'user-dir': { type: 'string', default: '.sluice' },
      broker: { type: 'string', default: 'mqtt://127.0.0.1:1883' },
      user: { type: 'string' },
      'password-env': { type: 'string' },
      ca: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  const password = values['password-env'] && process.env[values['password-env']]
  if (!values.help && !(command === 'list' && name === undefined) && !(command === 'forget' && name && rest.length === 0)) {
    throw new Error('list or forget NAME is missing')
  }
  return { command, name, userDir: values['user-dir'], json: values.json, help: values.help, broker: { url: values.broker, user: values.user, password, ca: values.ca } }
}

/** @param {Options} options @param {NodeJS.WritableStream} stdout */
async function list ({ userDir, json }, stdout) {
  const sources = await spools(userDir)
  if (json) {
    for (const { source, bytes, requiredSinks } of sources) stdout.write(`${JSON.stringify({ source, bytes, sinks: [...requiredSinks.sinks.keys()] })}\n`)
  } else if (sources.length === 0) {
    stdout.write(`No spools in ${userDir}.\n`)
  } else {
    for (const { source, bytes, requiredSinks } of sources) {
      stdout.write(`${source}  ${measure(bytes, 'B')}  ${[...requiredSinks.sinks.keys()].join(', ') || 'no sink yet: kept up to the spool\'s size'}\n`)
    }
  }
}

/** @param {string} name @param {Options} options @param {NodeJS.WritableStream} stdout */
async function forget (name, { userDir, broker }, stdout) {
  const known = (await spools(userDir)).filter(({ requiredSinks }) => requiredSinks.sinks.has(name))
  if (known.length === 0) throw new SluiceError('SLUICE_SINK_UNKNOWN', `No spool in ${userDir} waits for a sink "${name}".`, { fix: 'sluice sinks list shows those there are.' })
  const isRunning = await forgetInFiles(known, name, userDir)
  const gateway = await gatewayId(join(userDir, 'sluice'))
  const connection = connect(broker, { clientId: `sluice-forget-${process.pid}` })
  try {
    await connected(connection)
    const sessions = await clearCommits(connection.client, gateway, name)
    for (const clientId of sessions) await endSession(broker, clientId)
    stdout.write(`${name} is forgotten by ${known.length} ${known.length === 1 ? 'source' : 'sources'}; ${sessions.length === 1 ? 'its session' : `${sessions.length} sessions`} with the broker ended.\n`)
  } catch (error) {
    if (isRunning) throw error
    stdout.write(`${name} is forgotten by the spools. The broker could not be told: ${describe(error)}\n`)
  } finally {
    await connection.close()
  }
}

/**
 * The files belong to a gateway that runs: it is told through the broker.
 * @param {Kept[]} known
 * @param {string} name
 * @param {string} userDir
 * @returns {Promise<boolean>} whether one runs
 */
async function forgetInFiles (known, name, userDir) {
  let unlock
  try {
    unlock = lockUserDir(userDir)
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'SLUICE_USER_DIR_IN_USE') return true
    throw error
  }
  for (const { requiredSinks } of known) {
    requiredSinks.forget(name)
    await requiredSinks.save()
  }
  unlock()
  return false
}

/**
 * Clears what the sink has said of itself.
 * @param {import('mqtt').MqttClient} client
 * @param {string} gateway
 * @param {string} name
 * @returns {Promise<string[]>} sessions no other sink uses
 */
async function clearCommits (client, gateway, name) {
  /** @type {Map<string, Set<string>>} client id → sinks */
  const sessions = new Map()
  /** @type {string[]} */
  const sources = []
  client.on('message', (topic, payload) => {
    const about = parseTopic(topic)
    if (about?.kind !== 'commit' || !about.sink || payload.length === 0) return
    const { clientId } = JSON.parse(payload.toString())
    sessions.set(clientId, (sessions.get(clientId) ?? new Set()).add(about.sink))
    if (about.sink === name) sources.push(about.source)
  })
  await client.subscribeAsync(`${ROOT}/${level(gateway)}/+/commit/+`, { qos: 1 })
  await sleep(RETAINED_MS)
  for (const source of sources) await client.publishAsync(topicsOf(gateway, source).commit(name), '', { qos: 1, retain: true })
  return [...sessions].filter(([, users]) => users.size === 1 && users.has(name)).map(([clientId]) => clientId)
}

/**
 * A clean start with the same id ends the session of that id.
 * @param {import('../../broker/connection/connection.js').BrokerOptions} broker
 * @param {string} clientId
 */
async function endSession (broker, clientId) {
  const connection = connect(broker, { clientId })
  await connected(connection)
  await connection.close()
}

/** @param {import('../../broker/connection/connection.js').Connection} connection */
async function connected (connection) {
  for (let waitedMs = 0; !connection.client.connected; waitedMs += 50) {
    if (connection.problem || waitedMs > 10_000) throw connection.problem ?? new SluiceError('SLUICE_BROKER_SILENT', `The broker at ${connection.place} does not answer.`)
    await sleep(50)
  }
}

/** @param {string} userDir @returns {Promise<Kept[]>} */
async function spools (userDir) {
  const root = join(userDir, 'sluice', 'spool')
  const found = []
  for (const stage of await foldersIn(root)) {
    for (const name of await foldersIn(join(root, stage))) {
      const folder = join(root, stage, name)
      const requiredSinks = new RequiredSinks(folder)
      await requiredSinks.load()
      let bytes = 0
      for (const segment of segmentNames(await readdir(folder))) bytes += (await stat(join(folder, segment))).size
      found.push({ source: decodeURIComponent(name), bytes, folder, requiredSinks })
    }
  }
  return found.sort((a, b) => a.source.localeCompare(b.source))
}

/** @param {string} folder */
async function foldersIn (folder) {
  try {
    return (await readdir(folder, { withFileTypes: true })).filter(entry => entry.isDirectory()).map(({ name }) => name)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return []
    throw error
  }
}
