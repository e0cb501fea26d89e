import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stderr, stdout } from 'node:process'
import { parseArgs } from 'node:util'
import { describe } from '../../gateway/base/errors.js'
import { databaseTypes } from './databases/index.js'
import { brokers } from './rig/brokers.js'
import { runChaos } from './run.js'

/**
 * @typedef {import('./run.js').ChaosResult} ChaosResult
 * @typedef {Omit<import('./run.js').ChaosOptions, 'folder'|'events'|'signal'|'report'>} Settings
 */

const USAGE = `Usage: npm run chaos -- [--broker NAME] [--sinks TYPE,…] [--kills N] [--seed S] [--rate R]
                         [--deploys] [--damage] [--changes] [--set-back] [--gateways N] [--keep]

Puts the promise to the test, with processes of its own in a temporary folder: a simulated machine, a CAN log and fifty devices that send
messages of a row each, which gather, staged through a broker, stored in several databases. Gateway, broker and database servers are
killed at random moments (kill -9) and started again, the broker sometimes without what it had on disk. At the end, each database must hold
exactly the rows that were produced.

  --broker NAME   what batches are staged in: ${Object.keys(brokers).join(' or ')} (default mosquitto)
  --sinks TYPE,…  the databases (default sqlite,postgresql), of:
                  ${Object.keys(databaseTypes).join(', ')}
  --kills N       how many (default 100; about two seconds each); with the next three: how many events of all kinds
  --deploys       sinks are renamed, disabled and enabled, deleted and brought back, and sources added, by deploys of each type
  --changes       a flow splits batches before a further SQLite sink; these rows may be repeated
  --damage        bits of the spools are flipped while a gateway is down
  --set-back      SQLite, PostgreSQL and MySQL databases are set back to what they held some seconds before, and VoltDB to nothing
  --gateways N    so many, 1 or 2, with the same flow and databases of their own, each storing what both produce
  --seed S        kills the same processes after the same times again (default: random)
  --rate R        rows a second of the simulated machine (default 1000)
  --keep          leave the folder; it is left as well when something was lost or doubled

The result is one line of JSON on the standard output, counting rows: produced; stored, in the database that has fewest; lost,
countedLost and doubled, in all together. What is missing counts as countedLost where the gateway itself reports as many rows as lost
and there is a reason: it was produced before the last damage, before the database was set back, or before a sink that had been deleted
was brought back. All else that is missing is lost.

Exit status: 0 when nothing was lost or doubled; 1 when something was, or the run failed; 2 for wrong arguments or where a server is
not installed; 130 when interrupted.
`

const INTERRUPTED = Symbol('interrupted')

process.exitCode = await main(process.argv.slice(2))
// What a server leaves open must not keep the process; what has been written must still get out.
process.stdout.write('', () => process.exit())

/** @param {string[]} args @returns {Promise<number>} the exit code */
async function main (args) {
  const options = readArguments(args)
  if (typeof options === 'string') {
    stderr.write(`chaos: ${options}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    stdout.write(USAGE)
    return 0
  }
  const { keep, kills, settings } = options
  const { broker, sinks, seed } = settings
  const missing = await missingServer(broker, sinks)
  if (missing) {
    stderr.write(`chaos: ${missing}\n`)
    return 2
  }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-chaos-'))
  stderr.write(`${kills} events with seed ${seed}, sinks ${sinks.join(',')}, in ${folder}\n`)
  const progress = progressLine(stderr)
  const interrupt = interruption()
  let isClean = false
  try {
    const result = await runChaos({ ...settings, folder, events: kills, signal: interrupt.signal, report: progress.show })
    progress.clear()
    for (const [sink, { findings }] of Object.entries(result.sinks)) {
      for (const finding of findings) stderr.write(`${sink}: ${finding}\n`)
    }
    const summary = summarise(result, seed)
    isClean = summary.lost + summary.doubled === 0
    if (!isClean) stderr.write(`The folder ${folder} is left.\n`)
    stdout.write(`${JSON.stringify(summary)}\n`)
    return isClean && summary.produced > 0 ? 0 : 1
  } catch (error) {
    progress.clear()
    isClean = error === INTERRUPTED
    if (isClean) return 130
    stderr.write(`chaos: ${describe(error)}\nThe folder ${folder} is left.\n`)
    return 1
  } finally {
    interrupt.forget()
    if (isClean && !keep) await rm(folder, { recursive: true })
  }
}

/**
 * @param {string[]} args
 * @returns {{help?: boolean, keep: boolean, kills: number, settings: Settings}|string} a string says what is wrong
 */
function readArguments (args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        broker: { type: 'string', default: 'mosquitto' },
        sinks: { type: 'string', default: 'sqlite,postgresql' },
        kills: { type: 'string', default: '100' },
        seed: { type: 'string', default: String(randomInt(2 ** 31)) },
        rate: { type: 'string', default: '1000' },
        deploys: { type: 'boolean', default: false },
        damage: { type: 'boolean', default: false },
        changes: { type: 'boolean', default: false },
        'set-back': { type: 'boolean', default: false },
        gateways: { type: 'string', default: '1' },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h' }
      }
    })
    return {
      help: values.help,
      keep: values.keep,
      kills: wholeNumber('kills', values.kills, 1, 1_000_000),
      settings: {
        broker: brokerNamed(values.broker),
        sinks: types(values.sinks),
        seed: wholeNumber('seed', values.seed, 0, 2 ** 31 - 1),
        rate: wholeNumber('rate', values.rate, 1, 10_000),
        deploys: values.deploys,
        damage: values.damage,
        changes: values.changes,
        setBack: values['set-back'],
        gateways: wholeNumber('gateways', values.gateways, 1, 2)
      }
    }
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}

/** @param {string} text */
function brokerNamed (text) {
  const name = Object.keys(brokers).find(each => each === text)
  if (name) return /** @type {import('./rig/brokers.js').BrokerName} */ (name)
  throw new Error(`--broker is ${Object.keys(brokers).join(' or ')}; not "${text}".`)
}

/** @param {string} text  names, separated by commas */
function types (text) {
  const names = [...new Set(text.split(',').map(name => name.trim()))]
  const unknown = names.find(name => !Object.hasOwn(databaseTypes, name))
  if (unknown === undefined) return names
  throw new Error(`--sinks takes ${Object.keys(databaseTypes).join(', ')}, separated by commas; not "${unknown}".`)
}

/** @param {string} name @param {string} text @param {number} lowest @param {number} highest */
function wholeNumber (name, text, lowest, highest) {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= lowest && number <= highest) return number
  throw new Error(`--${name} must be a whole number from ${lowest} to ${highest}; it is "${text}".`)
}

/** @param {ChaosResult} result @param {number} seed */
function summarise ({ events, killed, others, produced, sources, sinks }, seed) {
  const counts = Object.entries(sinks).map(([sink, verdict]) => [sink, { ...verdict, findings: undefined }])
  const verdicts = Object.values(sinks)
  const sumOf = (/** @type {'lost'|'countedLost'|'doubled'} */ what) => verdicts.reduce((sum, verdict) => sum + verdict[what], 0)
  return {
    kills: events,
    produced,
    sources,
    stored: Math.min(...verdicts.map(({ stored }) => stored)),
    lost: sumOf('lost'),
    countedLost: sumOf('countedLost'),
    doubled: sumOf('doubled'),
    seed,
    sinks: Object.fromEntries(counts),
    killed,
    ...others
  }
}

/**
 * What keeps this machine from a run, null when nothing does.
 * @param {import('./rig/brokers.js').BrokerName} broker
 * @param {string[]} sinks
 */
async function missingServer (broker, sinks) {
  const modules = await Promise.all(sinks.map(type => databaseTypes[type]()))
  const missing = [brokers[broker].missing(), ...await Promise.all(modules.map(module => module.missing()))]
  return missing.find(each => each !== null) ?? null
}

/** One line on a terminal, written over; nothing elsewhere. @param {NodeJS.WriteStream} stream */
function progressLine (stream) {
  const write = (/** @type {string} */ text) => { if (stream.isTTY) stream.write(`\r\x1b[2K${text}`) }
  return { show: write, clear: () => write('') }
}

/** Ctrl-C and SIGTERM end the run; the second time at once. */
function interruption () {
  const controller = new AbortController()
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(130)
    controller.abort(INTERRUPTED)
  }
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM'])
  for (const signal of signals) process.on(signal, onSignal)
  return {
    signal: controller.signal,
    forget () { for (const signal of signals) process.off(signal, onSignal) }
  }
}
