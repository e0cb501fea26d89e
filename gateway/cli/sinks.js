import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { open } from '../../broker/preflight/probing.js'
import { RequiredSinks } from '../../broker/spool/required-sinks.js'
import { level, parseTopic, ROOT, topicsOf } from '../../broker/topics.js'
import { SluiceError, describe } from '../base/errors.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { measure } from '../stats/format.js'
import { lockUserDir } from '../run/user-dir-lock.js'

const USAGE = `Usage: sluice sinks list [--user-dir DIR] [--json]
       sluice sinks forget NAME [--user-dir DIR] [--broker URL]

A spool keeps each batch until every sink that ever announced itself has stored it.

list     the sources in the spools, what they take on disk, and the sinks they wait for
forget   no longer waits for this sink, and ends its session with the broker. A sink that runs announces itself again:
         remove it from the flow first

  --user-dir DIR       where the gateway keeps its data (default .sluice)
  --broker URL         the broker it stages in (default mqtt://127.0.0.1:1883)
  --user NAME, --password-env NAME, --ca FILE
                       how to log in there; the password is read from that environment variable

Exit status: 0; 1 when something failed or the sink is not known; 2 for wrong arguments.
`
/** How long the broker has to answer. */
const PATIENCE_MS = 10_000

/**
 * @typedef {{source: string, bytes: number, folder: string, requiredSinks: RequiredSinks}} Kept
 * @typedef {import('../../broker/connection/connection.js').BrokerOptions} BrokerOptions
 * @typedef {{command: string, name?: string, userDir: string, json: boolean, help: boolean, broker: BrokerOptions}} Options
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
  const { 'user-dir': userDir, json, help, broker: url, user, ca } = values
  return { command, name, userDir, json, help, broker: { url, user, password, ca } }
}

/** @param {Options} options @param {NodeJS.WritableStream} stdout */
async function list ({ userDir, json }, stdout) {
  const sources = await spools(userDir)
  if (sources.length === 0 && !json) stdout.write(`No spools in ${userDir}.\n`)
  for (const { source, bytes, requiredSinks: { saved } } of sources) {
    stdout.write(json
      ? `${JSON.stringify({ source, bytes, sinks: saved })}\n`
      : `${source}  ${measure(bytes, 'B')}  ${sinksText(saved)}\n`)
  }
}

/** @param {string[]|null} saved */
function sinksText (saved) {
  if (saved === null) return 'sinks not known: the spool has recorded none yet'
  return saved.join(', ') || 'no sink yet: kept up to the spool\'s size'
}

/** @param {string} name @param {Options} options @param {NodeJS.WritableStream} stdout */
async function forget (name, { userDir, broker }, stdout) {
  const all = await spools(userDir)
  const waiting = all.filter(({ requiredSinks }) => requiredSinks.sinks.has(name))
  if (waiting.length === 0) {
    throw new SluiceError('SLUICE_SINK_UNKNOWN', `No spool in ${userDir} waits for a sink "${name}".`, {
      fix: 'sluice sinks list shows those there are.'
    })
  }
  const announced = all.flatMap(({ source, requiredSinks }) => [...requiredSinks.sinks.keys()].map(sink => ({ source, sink })))
  const isRunning = await forgetInFiles(waiting, name, userDir)
  const gateway = await gatewayId(join(userDir, 'sluice'))
  let connection
  try {
    connection = await open(broker, { clientId: `sluice-forget-${process.pid}` }, PATIENCE_MS)
    const { sessions, isComplete } = await clearCommits(connection.client, gateway, name, announced)
    for (const clientId of sessions) await endSession(broker, clientId)
    stdout.write(`${name} is forgotten by ${waiting.length} ${waiting.length === 1 ? 'source' : 'sources'}; ` +
      `${sessions.length === 1 ? 'its session' : `${sessions.length} sessions`} with the broker ended.\n`)
    if (!isComplete) {
      stdout.write(`The broker has not reported all sinks within ${PATIENCE_MS / 1000} s: a session of ${name} may be left.\n`)
    }
  } catch (error) {
    if (isRunning) throw error
    stdout.write(`${name} is forgotten by the spools. The broker could not be told: ${describe(error)}\n`)
  } finally {
    await connection?.close()
  }
}

/**
 * The files belong to a gateway that runs: it is asked through the broker.
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
 * Clears what the sink has announced to the spools.
 * @param {import('mqtt').MqttClient} client
 * @param {string} gateway
 * @param {string} name
 * @param {{source: string, sink: string}[]} announced  what the broker should have of all sinks
 * @returns {Promise<{sessions: string[], isComplete: boolean}>} sessions that no other sink uses; not complete: the broker has not reported
 *   all that was announced
 */
async function clearCommits (client, gateway, name, announced) {
  /** @type {Map<string, Set<string>>} client id → sinks */
  const sessions = new Map()
  const awaited = new Set(announced.map(({ source, sink }) => topicsOf(gateway, source).commit(sink)))
  const isComplete = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(false), PATIENCE_MS)
    client.on('message', (topic, payload) => {
      const sink = parseTopic(topic)?.sink
      if (!sink || payload.length === 0) return
      const { clientId } = JSON.parse(payload.toString())
      sessions.set(clientId, (sessions.get(clientId) ?? new Set()).add(sink))
      if (!awaited.delete(topic) || awaited.size > 0) return
      clearTimeout(timer)
      resolve(true)
    })
    client.subscribeAsync(`${ROOT}/${level(gateway)}/+/commit/+`, { qos: 1 }).catch(reject)
  })
  for (const { source, sink } of announced) {
    if (sink === name) await client.publishAsync(topicsOf(gateway, source).commit(name), '', { qos: 1, retain: true })
  }
  return { sessions: [...sessions].filter(([, users]) => users.size === 1 && users.has(name)).map(([clientId]) => clientId), isComplete }
}

/**
 * A clean start with the same id ends the session of that id.
 * @param {BrokerOptions} broker
 * @param {string} clientId
 */
async function endSession (broker, clientId) {
  const connection = await open(broker, { clientId }, PATIENCE_MS)
  await connection.close()
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
      for (const entry of await readdir(folder)) if (entry.endsWith('.segment')) bytes += (await stat(join(folder, entry))).size
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
