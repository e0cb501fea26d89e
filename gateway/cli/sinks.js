import { parseArgs } from 'node:util'
import { readSinks } from '../../broker/control-messages.js'
import { sinkKey } from '../../broker/out/required-sinks.js'
import { requestForget, savedIn } from '../../broker/out/required-sinks-file.js'
import { arrival, open } from '../../broker/preflight/probing.js'
import { spoolsIn } from '../../broker/spool/folders.js'
import { parseTopic, ROOT } from '../../broker/topics.js'
import { SluiceError, describe } from '../base/errors.js'
import { measure } from '../stats/format.js'

const USAGE = `Usage: sluice sinks list [--user-dir DIR] [--json]
       sluice sinks forget KEY [--user-dir DIR] [--broker URL]

A spool keeps each batch until every sink that is meant to have it has stored it: those that are wired in this gateway, and those of other
gateways that have announced themselves on the broker.

list     those sinks, each with its key, and what the spools take on disk
forget   no longer waits for a sink of another gateway, until it announces itself anew: within seconds where the gateway runs, otherwise
         when it starts

  --user-dir DIR       where the gateway keeps its data (default .sluice)
  --broker URL         takes the sink's announcement from the broker, too, and ends the session of a reader that has no other
  --user NAME, --password-env NAME, --ca FILE
                       how to log in there; the password is read from that environment variable

Exit status: 0; 1 when something failed or the sink is not known; 2 for wrong arguments.
`
/** How long the broker has to answer. */
const PATIENCE_MS = 10_000

/**
 * @typedef {import('../../broker/connection/connection.js').BrokerOptions} BrokerOptions
 * @typedef {{command: string, key: string, userDir: string, json: boolean, help: boolean, broker: BrokerOptions}} Options
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
    await (options.command === 'list' ? list(options, stdout) : forget(options, stdout))
    return 0
  } catch (error) {
    stderr.write(`sluice sinks: ${describe(error)}\n`)
    return 1
  }
}

/** @param {string[]} args @returns {Options} */
function readArguments (args) {
  const { values, positionals: [command, key, ...rest] } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'user-dir': { type: 'string', default: '.sluice' },
      broker: { type: 'string' },
      user: { type: 'string' },
      'password-env': { type: 'string' },
      ca: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  const password = values['password-env'] && process.env[values['password-env']]
  if (!values.help && !(command === 'list' && key === undefined) && !(command === 'forget' && key && rest.length === 0)) {
    throw new Error('list or forget KEY is missing')
  }
  const { 'user-dir': userDir, json, help, broker: url, user, ca } = values
  return { command, key, userDir, json, help, broker: { url, user, password, ca } }
}

/** @param {Options} options @param {NodeJS.WritableStream} stdout */
async function list ({ userDir, json }, stdout) {
  const spools = await spoolsIn(userDir)
  const kept = await savedIn(userDir)
  if (spools.length + kept.length === 0 && !json) stdout.write(`No spools in ${userDir}.\n`)
  for (const { spool, bytes } of spools) {
    stdout.write(json ? `${JSON.stringify({ spool, bytes })}\n` : `spool ${spool}  ${measure(bytes, 'B')}\n`)
  }
  for (const { broker, wired, remote } of kept) {
    if (wired.length + remote.length === 0 && !json) stdout.write(`broker ${broker}  no sink yet: kept up to the spool's size\n`)
    const all = [...wired.map(sink => ({ ...sink, isWired: true, committed: true })), ...remote.map(sink => ({ ...sink, isWired: false }))]
    for (const { key, label, gateway, source, isWired, committed } of all) {
      stdout.write(json
        ? `${JSON.stringify({ key, label, broker, gateway, source, isWired, committed })}\n`
        : `${key}  ${label}  ${source === '+' ? 'all sources' : source}  ${whyOf(isWired, committed)}\n`)
    }
  }
}

/** @param {boolean} isWired @param {boolean} committed */
function whyOf (isWired, committed) {
  if (isWired) return 'wired in this gateway'
  return committed ? 'announced by another gateway' : 'announced by another gateway, has stored nothing yet'
}

/** @param {Options} options @param {NodeJS.WritableStream} stdout */
async function forget ({ key, userDir, broker }, stdout) {
  const kept = await savedIn(userDir)
  const waiting = kept.filter(({ remote }) => remote.some(sink => sink.key === key))
  if (waiting.length === 0) {
    if (kept.some(({ wired }) => wired.some(sink => sink.key === key))) {
      throw new SluiceError('SLUICE_SINK_WIRED', `The sink ${key} is wired in this gateway.`, { fix: 'Delete its node, and deploy.' })
    }
    throw new SluiceError('SLUICE_SINK_UNKNOWN', `No spool in ${userDir} waits for a sink "${key}".`, {
      fix: 'sluice sinks list shows those there are.'
    })
  }
  for (const { path } of waiting) await requestForget(path, key)
  stdout.write(`${key} is forgotten: within seconds where the gateway runs, otherwise when it starts.\n`)
  if (!broker.url) return
  const readers = new Set(waiting.flatMap(({ remote }) => remote.filter(sink => sink.key === key).map(({ reader }) => reader)))
  for (const reader of readers) stdout.write(`${await withdraw(broker, reader, key)}\n`)
}

/**
 * Takes a sink out of the retained list of its reader.
 * @param {BrokerOptions} broker
 * @param {string} reader  `<consumer>/<reader>`, as levels
 * @param {string} key
 * @returns {Promise<string>} what came of it
 */
async function withdraw (broker, reader, key) {
  const [consumerLevel, readerLevel] = reader.split('/')
  const topic = `${ROOT}/${consumerLevel}/sinks/${readerLevel}`
  const about = /** @type {{consumer: string, reader: string}} */ (parseTopic(topic))
  const connection = await open(broker, { clientId: `sluice-forget-${process.pid}` }, PATIENCE_MS)
  try {
    const message = arrival(connection.client, topic)
    await connection.client.subscribeAsync(topic, { qos: 1 })
    const payload = (await message)?.payload
    const announced = payload && readSinks(Buffer.from(payload))
    if (!announced) return 'The broker has no announcement of it.'
    const left = { ...announced, sinks: announced.sinks.filter(({ sink }) => sinkKey(about.consumer, sink) !== key) }
    const isEmpty = left.sinks.length === 0
    await connection.client.publishAsync(topic, isEmpty ? '' : JSON.stringify(left), { qos: 1, retain: true })
    if (!isEmpty || about.consumer.startsWith('group:')) return 'Its announcement is taken from the broker.'
    await endSession(broker, `sluice-${about.consumer}-in-${about.reader.slice(about.consumer.length + 1)}`)
    return 'Its announcement is taken from the broker, and the session of its reader ended.'
  } finally {
    await connection.close()
  }
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
