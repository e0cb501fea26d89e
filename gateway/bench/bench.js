import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { describe } from '../base/errors.js'
import { serversOf, urlHelp, urlOptions } from './servers.js'
import { SECTIONS } from './sections.js'
import { readStudyArguments, studyOptions } from './studies/arguments.js'
import { runStudies } from './studies/command.js'
import { isStudy } from './studies/index.js'
import { isReporting, readReportArguments, writeReports } from './studies/reports.js'
import { tellPeople, tellPrograms } from './studies/telling.js'

const USAGE = `Usage: sluice bench [SECTION…] [--json] [--only TYPES] [--rows N] [--quick] [--TYPE URL…]

Measures on this machine, each thing beside what it is to be compared with, in one run.

  postgresql   the PostgreSQL sink and psql's \\copy … (FORMAT binary), same rows, same table, same index
  sqlite       the SQLite sink and the best plain loops
  pipeline     simulator → Mosquitto → PostgreSQL: values a second; processor time and memory of the gateway that consumes
  load         5 channels at 1000 samples a second through one gateway: its share of a core above an idle Node-RED
  idle         what gateways with little to do cost above an idle Node-RED: without samples, with 5 channels at 1000 samples a second,
               with 1000 sources that have sent once
  monitor      what the monitor of processes costs beside 100,000 values a second, by turns without it and with it
  kafka-in     a topic of Kafka into PostgreSQL and files by one gateway, beside the library's own consumer and the loader of the database
  outage       100,000 values a second through one gateway whose PostgreSQL is away for a minute: its memory, and what is stored in the end
  scale        200 gateways of 50 devices, one row a second of each, for ten minutes, into one PostgreSQL by two members of a group;
               only where it is named
  telegraf     Telegraf and Sluice on the same small and large messages, Mosquitto → PostgreSQL: rate, processor time, memory, and what
               is stored after kills; builds Telegraf once, where Go is installed; ten minutes, only where it is
               named
  flow         10,000 messages a second of one row, of 1000 devices, through a flow: processor time, bytes and memory
  sinks        every database: our sink at several batch sizes and numbers of writers, its own bulk loader, and the naive way;
               a minute or two each
  sources      Modbus registers, CAN signals and simulated samples a second, and how late they are

Studies of papers, measured again (sluice bench STUDY… [--full] [--folder DIR]); each leaves a report of its own in bench-reports:

  arnst        a machine tool's samples in MariaDB, MongoDB and InfluxDB, written in real time and read by cycle: what each costs
  haenisch     storing sensor data in different database architectures: rates by the size of batches and the number of writers
  scits        time-series databases: latency of batches, rates by clients and as a table grows, five queries
  weissbach    records with BLOBs read, inserted and updated by key: rates and latency by the size of the BLOB and database
  warp10       the log of a car as text of Warp 10: points a second by the format of the text and database
  studies      all of them, within half an hour on two cores, with a page that leads to their reports
  report FOLDER            writes page and Markdown of a run again
  compare FOLDER FOLDER…   runs of one study side by side

  capacity     how many sensors at 10 Hz this machine takes: more and more of them through a whole gateway, from simulator to database
               (--databases, sqlite where none is named), until p99 of the latency breaks or the spool grows; by itself, about 3 minutes
  --sensors, --seconds, --warm-up-seconds
               of capacity: the least and the most sensors, and how long a step of the ramp is measured
  --p99-ms, --p99-times
               of capacity: p99 breaks above so many milliseconds (1000, or 2000 where the sink gathers rows for a second),
               or above so many times that of the quiet level (4)

  --full       the sizes and durations of the paper; otherwise minutes
  --folder     where the folders of reports go (default bench-reports)
  --config     of scits: a configuration in SciTS' own form, such as those that it has published; other options win over it
  --resume     the folder of a run that was stopped, or of which some cells failed: it goes on; "last": the newest that was stopped and
               has the same options, if there is one
  --databases, --layouts, --batch-sizes, --writers, --sensors, --seconds, --rows, --warm-up-seconds, --repetitions
               instead of the study's own: a list with commas, or a number
  --clients-as threads (default) or processes, each with its connection

  --limit      holds the gateway's part back to be like a small machine: cores=0.5,memory=512M (either, or both); by a control group, or
               where that is not permitted by fewer cores, with the factor; the first line of the report says so
  --with-servers
               of --limit: the servers that the bench starts, too, together with the gateway's part

  --json    print the results as JSON; of studies, what goes on, an object a line
  --only    of sinks: these databases, separated by commas (sqlite,postgresql,file,…)
  --rows    of sinks: how many rows are compared with the loader (default 1000000)
  --quick   of idle, monitor, flow, scale, telegraf, sinks and sources: a shorter look

Your own servers, without TLS, each with an empty database that the bench may fill and empty again, and a broker that nothing else uses:

${urlHelp}

  --monitor     http://host:1879: where sluice monitor runs beside such a server on another machine, with
                --process postgresql=PID --folder data=PATH or likewise; its token is in SLUICE_MONITOR_TOKEN

They may also be in the environment, out of sight of other users: SLUICE_BENCH_POSTGRESQL=… and so on. What needs a server that is not named
is not measured. In Sluice's repository, npm run bench starts those that are not named, on 127.0.0.1.

Exit code: 0 measured, 1 something failed, 2 wrong arguments.
`

/**
 * @param {string[]} args
 * @param {{stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream}} streams
 * @param {Record<string, import('./servers.js').ServerType>} [started]  servers by name, used where no URL is given
 * @returns {Promise<number>} the exit code
 */
export async function bench (args, { stdout, stderr }, started = {}) {
  const progress = (/** @type {string} */ text) => { stderr.write(`  ${text}\n`) }
  let options
  try {
    options = readArguments(args, started)
  } catch (error) {
    stderr.write(`sluice bench: ${describe(error)}\n\n${USAGE}`)
    return 2
  }
  if (options === null) {
    stdout.write(USAGE)
    return 0
  }
  if ('studies' in options) return withContext(options, { stdout, stderr }, context => runStudies(options, context))
  if ('reports' in options) return withContext(options, { stdout, stderr }, context => writeReports(options, context))
  const { sections, json, servers } = options
  /** @type {Record<string, any>} */
  const results = {}
  for (const name of sections) {
    const { needs, run, table } = SECTIONS[name]
    const missing = needs(servers)
    if (missing) {
      results[name] = { missing }
      stderr.write(`Not measuring ${name}: ${missing}\n`)
      continue
    }
    stderr.write(`Measuring ${name} …\n`)
    results[name] = await run({ ...options, progress })
    if (!json) stdout.write(asText(await table(results[name])))
  }
  if (json) stdout.write(`${JSON.stringify({ machine: machine(), ...results }, null, 2)}\n`)
  else stdout.write(`\n${Object.values(machine()).join(', ')}\n`)
  return 0
}

const INTERRUPTS = ['SIGINT', 'SIGTERM', 'disconnect']

/**
 * Until it ends, or is interrupted: then it is reported as far as it has come. A program that has started it with a channel to it, as the
 * gateway does, interrupts it by closing the channel, or by ending.
 * @param {{servers: import('./servers.js').Servers, json: boolean}} options
 * @param {import('./studies/telling.js').Streams} streams
 * @param {(context: import('./studies/command.js').Context) => Promise<void>} work
 * @returns {Promise<number>} the exit code
 */
async function withContext ({ servers, json }, streams, work) {
  const stop = new AbortController()
  const interrupt = () => stop.abort()
  for (const event of INTERRUPTS) process.once(event, interrupt)
  const say = (json ? tellPrograms : tellPeople)(streams)
  let exitCode = 0
  const tell = (/** @type {import('./studies/command.js').StudyEvent} */ event) => {
    if (event.event === 'problem' || (event.event === 'missing' && event.state === 'failed')) exitCode = 1
    say(event)
  }
  try {
    await work({ servers, signal: stop.signal, tell })
    return exitCode
  } catch (error) {
    streams.stderr.write(`sluice bench: ${describe(error)}\n`)
    return 1
  } finally {
    for (const event of INTERRUPTS) process.off(event, interrupt)
  }
}

/**
 * Null asks for help.
 * @param {string[]} args
 * @param {Record<string, import('./servers.js').ServerType>} started
 * @throws {Error} what is wrong with them
 */
function readArguments (args, started) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      ...studyOptions,
      ...urlOptions,
      rows: { type: 'string' }
    }
  })
  if (values.help) return null
  const servers = serversOf(values, process.env, started)
  const { json, quick } = values
  if (isReporting(positionals[0])) return { ...readReportArguments(positionals, values.folder), servers, json }
  const studies = positionals.filter(isStudy)
  if (studies.length > 0) {
    if (studies.length < positionals.length) throw new Error('studies are measured by themselves')
    return { ...readStudyArguments(values, studies), servers, json }
  }
  const sections = positionals.length > 0 ? positionals : Object.keys(SECTIONS).filter(name => !SECTIONS[name].isLong)
  const unknown = sections.find(section => !Object.hasOwn(SECTIONS, section))
  if (unknown) throw new Error(`there is no section "${unknown}"`)
  const rows = Number(values.rows ?? 1_000_000)
  if (!Number.isInteger(rows) || rows < 1) throw new Error(`"${values.rows}" is not a number of rows`)
  return { sections, json, only: values.only.split(',').filter(Boolean), rows, quick, servers }
}

function machine () {
  const [{ model }] = cpus()
  return {
    processor: `${cpus().length} × ${model.trim()}`,
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    node: `Node ${process.version}`,
    measured: new Date().toISOString().slice(0, 10)
  }
}

/** @param {import('./sections.js').Table} table */
function asText (table) {
  const width = Math.max(...table.map(([what]) => what.length))
  return table.map(([what, value, goal, isMet]) => {
    const verdict = isMet === null ? goal : `goal ${goal}: ${isMet ? 'met' : 'missed'}`
    return `  ${what.padEnd(width)}  ${value.padEnd(22)}  ${verdict}`.trimEnd() + '\n'
  }).join('')
}
