import { cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { quantity } from '../stats/format.js'
import { benchOutage } from './outage.js'
import { benchPaperLoad, benchPipeline } from './pipeline.js'
import { benchPostgresql } from './postgresql.js'
import { benchSinks, sinksTable } from './sinks/index.js'
import { benchSources, sourcesTable } from './sources/index.js'
import { benchSqlite } from './sqlite.js'

const USAGE = `Usage: sluice bench [SECTION…] [--json] [--only TYPES] [--rows N] [--quick]

Measures on this machine, each thing beside what it is to be compared with, in one run.

  postgresql   the PostgreSQL sink and psql's \\copy … (FORMAT binary), same rows, same table, same index
  sqlite       the SQLite sink and the best plain loops
  pipeline     simulator → Mosquitto → PostgreSQL: values a second; processor time and memory of the gateway that consumes
  load         5 channels at 1000 samples a second through one gateway: its share of a core above an idle Node-RED
  outage       100,000 values a second through one gateway whose PostgreSQL is away for a minute: its memory, and what is stored in the end
  sinks        every database: our sink at several batch sizes and numbers of writers, its own bulk loader, and the naive way; a minute or two each
  sources      Modbus registers, CAN signals and simulated samples a second, and how late they are

It starts its own servers on 127.0.0.1, one thing at a time, and needs the repository with its development set-up (npm run bench).

  --json    print the results as JSON
  --only    of sinks: these databases, separated by commas (sqlite,postgresql,file,…)
  --rows    of sinks: how many rows are compared with the loader (default 1000000)
  --quick   of sinks and sources: a shorter look

Exit code: 0 measured, 1 something failed, 2 wrong arguments.
`

/** @typedef {[what: string, value: string, goal: string, isMet: boolean|null][]} Table */

/** @typedef {{only: string[], rows: number, quick: boolean, progress: (text: string) => void}} SectionOptions */

/** @type {Record<string, {run: (options: SectionOptions) => Promise<any>, table: (result: any) => Table}>} */
const SECTIONS = {
  postgresql: {
    run: () => benchPostgresql(),
    table: ({ rows, batchRows, ours, psql, ratio }) => [
      [`PostgreSQL sink, ${quantity(rows)} narrow rows, ${quantity(batchRows)} a batch, indexed`, `${quantity(ours)} rows/s`, '', null],
      ['psql \\copy binary, the same rows', `${quantity(psql)} rows/s`, '', null],
      ['ratio', ratio.toFixed(2), '≥ 0.9', ratio >= 0.9]
    ]
  },
  sqlite: {
    run: () => benchSqlite(),
    table: ({ rows, batchRows, ours, perRow, multiRow, ratio }) => [
      [`SQLite sink, ${quantity(rows)} narrow rows, ${quantity(batchRows)} a batch, indexed`, `${quantity(ours)} rows/s`, '', null],
      ['plain loop, a row a statement, one transaction', `${quantity(perRow)} rows/s`, '', null],
      ['plain loop, 100 rows a statement, a transaction a batch', `${quantity(multiRow)} rows/s`, '', null],
      ['ratio to the better loop', ratio.toFixed(2), '≥ 0.9', ratio >= 0.9]
    ]
  },
  pipeline: {
    run: async () => ({ paced: await benchPipeline({ rowsPerSecond: 240_000 }), fullSpeed: await benchPipeline({ rows: 4_000_000 }) }),
    table: ({ paced, fullSpeed }) => [
      ['simulator → Mosquitto → PostgreSQL, wide, 5 values a row, 1000 rows a message', `${quantity(fullSpeed.valuesPerSecond)} values/s`, '≥ 1 M', fullSpeed.valuesPerSecond >= 1e6],
      ['consuming gateway at full speed: processor time', `${fullSpeed.cpuMicrosecondsPerValue.toFixed(3)} µs/value`, '≤ 0.2', fullSpeed.cpuMicrosecondsPerValue <= 0.2],
      ['consuming gateway at full speed: memory above idle, at most', `${fullSpeed.memoryAboveIdleMegabytes.toFixed(0)} MB`, '', null],
      [`the same at ${quantity(paced.valuesPerSecond)} values/s: processor time`, `${paced.cpuMicrosecondsPerValue.toFixed(3)} µs/value`, '≤ 0.2', paced.cpuMicrosecondsPerValue <= 0.2],
      [`the same at ${quantity(paced.valuesPerSecond)} values/s: memory above idle, at most`, `${paced.memoryAboveIdleMegabytes.toFixed(0)} MB`, '≤ 60', paced.memoryAboveIdleMegabytes <= 60]
    ]
  },
  load: {
    run: () => benchPaperLoad(),
    table: ({ percentOfCoreAboveIdle, memoryMegabytes: { idle, start, end }, seconds }) => [
      ['5 × 1000 values/s, simulated, staged and stored in one gateway: above idle', `${percentOfCoreAboveIdle.toFixed(2)} % of a core`, '< 1.5', percentOfCoreAboveIdle < 1.5],
      [`its memory: idle, at the start and the end of ${seconds} s`, `${idle.toFixed(0)}, ${start.toFixed(0)}, ${end.toFixed(0)} MB`, 'flat', null]
    ]
  },
  outage: {
    run: () => benchOutage(),
    table: ({ seconds, valuesPerSecond, produced, rows, distinct, catchUpSeconds, memoryMegabytes: { start, most, catchingUp } }) => [
      [`PostgreSQL away for ${seconds} s, ${quantity(valuesPerSecond)} values/s: memory of the gateway at the start, at most`, `${start.toFixed(0)}, ${most.toFixed(0)} MB`, '< 250', most < 250],
      ['while it catches up, at most', `${catchingUp.toFixed(0)} MB`, '< 250', catchingUp < 250],
      [`rows made, stored and different ones, ${catchUpSeconds.toFixed(0)} s after it is back`, `${produced}, ${rows}, ${distinct}`, 'equal', produced === rows && rows === distinct]
    ]
  },
  sinks: { run: options => benchSinks(options), table: sinksTable },
  sources: { run: options => benchSources(options), table: sourcesTable }
}

/** @type {import('../cli/sluice.js').Command} */
export async function bench (args, { stdout, stderr }) {
  let sections, json, options
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        only: { type: 'string', default: '' },
        rows: { type: 'string', default: '1000000' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false }
      }
    })
    if (values.help) {
      stdout.write(USAGE)
      return 0
    }
    json = values.json
    sections = positionals.length > 0 ? positionals : Object.keys(SECTIONS)
    const unknown = sections.find(section => !Object.hasOwn(SECTIONS, section))
    if (unknown) throw new Error(`there is no section "${unknown}"`)
    const rows = Number(values.rows)
    if (!Number.isInteger(rows) || rows < 1) throw new Error(`"${values.rows}" is no number of rows`)
    const progress = (/** @type {string} */ text) => { stderr.write(`  ${text}\n`) }
    options = { only: values.only.split(',').filter(Boolean), rows, quick: values.quick, progress }
  } catch (error) {
    stderr.write(`sluice bench: ${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return 2
  }
  /** @type {Record<string, any>} */
  const results = {}
  for (const section of sections) {
    stderr.write(`Measuring ${section} …\n`)
    results[section] = await SECTIONS[section].run(options)
    if (!json) stdout.write(asText(SECTIONS[section].table(results[section])))
  }
  if (json) stdout.write(`${JSON.stringify({ machine: machine(), ...results }, null, 2)}\n`)
  else stdout.write(`\n${Object.values(machine()).join(', ')}\n`)
  return 0
}

function machine () {
  const [{ model }] = cpus()
  return { processor: `${cpus().length} × ${model.trim()}`, memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`, node: `Node ${process.version}`, measured: new Date().toISOString().slice(0, 10) }
}

/** @param {Table} table */
function asText (table) {
  const width = Math.max(...table.map(([what]) => what.length))
  return table.map(([what, value, goal, isMet]) => {
    const verdict = isMet === null ? goal : `goal ${goal}: ${isMet ? 'met' : 'missed'}`
    return `  ${what.padEnd(width)}  ${value.padEnd(22)}  ${verdict}`.trimEnd() + '\n'
  }).join('')
}
