import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { describe } from '../base/errors.js'
import { readFlow } from '../copy/flow-file.js'
import { OpenPlace, placeInFlow, sourcesOf } from '../copy/places.js'
import { dashboardOf } from '../grafana/dashboard.js'
import { pluginOf } from '../grafana/plugins.js'
import { tablesOf } from '../grafana/tables.js'

const USAGE = `Usage: sluice grafana SINK [--out FILE] [--source NAME]… [--by COLUMN]… [--user-dir DIR] [--flows FILE]

Writes a Grafana dashboard of what a sink has stored, made of the tables that are there: a row for each table, a panel for the fields of a
unit. Import it in Grafana under Dashboards, New, Import; the data source is chosen at its top.

  SINK               a sink of the flow, by its name or id: PostgreSQL, TimescaleDB, MySQL, MariaDB, ClickHouse, InfluxDB, or SQLite
                     (with Grafana's plugin frser-sqlite-datasource)
  --out FILE         instead of the standard output
  --source NAME      of this source only; also one that goes into the sink without staging
  --by COLUMN        a line for each value of this tag, such as the device; without it, a line is the mean of all of them
  --user-dir DIR     where the gateway keeps its data (default .sluice)
  --flows FILE       the flow, instead of the user folder's own

Exit status: 0; 1 when something failed; 2 for wrong arguments.
`

/** @type {import('./sluice.js').Command} */
export async function grafana (args, { stdout, stderr }) {
  let options
  try {
    options = readArguments(args)
  } catch (error) {
    stderr.write(`sluice grafana: ${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    stdout.write(USAGE)
    return 0
  }
  try {
    const text = `${JSON.stringify(await dashboard(options, stderr), null, 2)}\n`
    if (options.out === undefined) stdout.write(text)
    else await writeFile(options.out, text)
    return 0
  } catch (error) {
    stderr.write(`sluice grafana: ${describe(error)}\n`)
    return 1
  }
}

/** @param {string[]} args */
function readArguments (args) {
  const { values, positionals: [sink = '', ...rest] } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      out: { type: 'string' },
      source: { type: 'string', multiple: true, default: [] },
      by: { type: 'string', multiple: true, default: [] },
      'user-dir': { type: 'string', default: '.sluice' },
      flows: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  if (!values.help && (sink === '' || rest.length > 0)) throw new Error('SINK is missing, or there is more than one')
  return { ...values, sink, userDir: values['user-dir'] }
}

/** @param {ReturnType<typeof readArguments>} options @param {NodeJS.WritableStream} stderr */
async function dashboard ({ sink, source, by, userDir, flows }, stderr) {
  const place = await placeInFlow(sink, { userDir, flows })
  const plugin = pluginOf(place)
  const { nodes } = await readFlow(userDir, flows)
  const tell = (/** @type {string} */ line) => { stderr.write(`${line}\n`) }
  const opened = new OpenPlace(place, { info: tell, warn: tell, error: tell })
  try {
    const sources = source.length > 0 ? source : (await sourcesOf(opened)).sources
    const tables = await tablesOf(opened, sources, { nodes, by, isNumeric: plugin.isNumeric })
    return dashboardOf({ title: `Sluice: ${sink}`, plugin, tables, sources })
  } finally {
    await opened.close()
  }
}
