import { parseArgs } from 'node:util'
import { SluiceError, describe } from '../base/errors.js'
import { formatTime, parseTime } from '../batch/time.js'
import { isFile, placeInFile, placeInFlow } from '../copy/places.js'
import { copyAll } from '../copy/run.js'
import { duration, quantity } from '../stats/format.js'

const USAGE = `Usage: sluice copy --from NODE|FILE --to NODE [--since TIME] [--until TIME] [--source NAME] [--dry-run] [--json]

Copies history from one database to another, each row exactly once: for a sink that came late. Killed or stopped, the same command goes on
where it was. At the end it compares what both have.

  --from NODE        a sink of the flow, by its name or id; or an SQLite or DuckDB file, with --table
  --to NODE          a sink of the flow
  --since TIME       from this time on, such as 2026-01-31T00:00:00Z (default: the first row there is)
  --until TIME       before this time (default: the first row that the target has stored itself)
  --source NAME      of this source only
  --dry-run          says what would be copied, and copies nothing

  --table NAME       of a file
  --layout NAME      of a file: wide (default) or narrow
  --text-fields LIST columns of text, with commas between them, that hold values; others are tags
  --without LIST     columns that are left out
  --user-dir DIR     where the gateway keeps its data (default .sluice)
  --flows FILE       the flow, instead of the user folder's own
  --json             prints one JSON object for each source

Exit status: 0; 1 when something failed or differs; 2 for wrong arguments.
`
const PROGRESS_MS = 1000

/** @type {import('./sluice.js').Command} */
export async function copy (args, { stdout, stderr }) {
  let options
  try {
    options = readArguments(args)
  } catch (error) {
    stderr.write(`sluice copy: ${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    stdout.write(USAGE)
    return 0
  }
  try {
    return await run(options, stdout, stderr) ? 0 : 1
  } catch (error) {
    stderr.write(`sluice copy: ${describe(error)}\n`)
    return 1
  }
}

/** @param {string[]} args */
function readArguments (args) {
  const { values } = parseArgs({
    args,
    options: {
      from: { type: 'string', default: '' },
      to: { type: 'string', default: '' },
      since: { type: 'string' },
      until: { type: 'string' },
      source: { type: 'string' },
      'dry-run': { type: 'boolean', default: false },
      table: { type: 'string' },
      layout: { type: 'string' },
      'text-fields': { type: 'string', default: '' },
      without: { type: 'string', default: '' },
      'user-dir': { type: 'string', default: '.sluice' },
      flows: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false }
    }
  })
  if (!values.help && (values.from === '' || values.to === '')) throw new Error('--from and --to are needed')
  const listOf = (/** @type {string} */ text) => text.split(',').map(name => name.trim()).filter(name => name !== '')
  return {
    ...values,
    userDir: values['user-dir'],
    wish: {
      since: values.since === undefined ? undefined : parseTime(values.since),
      until: values.until === undefined ? undefined : parseTime(values.until),
      dryRun: values['dry-run'],
      textFields: listOf(values['text-fields']),
      without: listOf(values.without)
    }
  }
}

/** @typedef {ReturnType<typeof readArguments>} Options */

/** @param {Options} options @param {NodeJS.WritableStream} stdout @param {NodeJS.WritableStream} stderr @returns {Promise<boolean>} */
async function run (options, stdout, stderr) {
  const { source, userDir, wish, json } = options
  const tell = (/** @type {string} */ text) => { stderr.write(`${text}\n`) }
  const task = {
    from: await fromOf(options),
    to: await placeInFlow(options.to, options),
    source,
    userDir,
    wish,
    log: { info: tell, warn: tell, error: tell },
    observe (/** @type {string} */ each) {
      tell(`${each}: counting`)
      return { progress: progressOf(each, tell) }
    }
  }
  let isWhole = true
  for await (const copied of copyAll(task)) {
    const { deadRows, differences } = copied
    isWhole &&= deadRows === 0 && !(differences && differences.length > 0)
    stdout.write(json ? `${JSON.stringify(copied, plain)}\n` : textOf(copied, wish.dryRun))
  }
  return isWhole
}

/** @param {string} _key @param {unknown} value */
function plain (_key, value) {
  return typeof value === 'bigint' ? formatTime(value) : value
}

/** @param {Options} options */
function fromOf ({ from, table, layout, ...options }) {
  if (table === undefined) return placeInFlow(from, options)
  if (isFile(from)) return placeInFile(from, { table, layout })
  throw new SluiceError('SLUICE_COPY_PLACE', `There is no file "${from}".`, { fix: 'Check its path, or leave out --table.' })
}

/**
 * At most once a second: how far it is, and how long it takes yet.
 * @param {string} source
 * @param {(text: string) => void} tell
 */
function progressOf (source, tell) {
  const beganMs = performance.now()
  let toldMs = beganMs
  return (/** @type {import('../copy/copy.js').Progress} */ { plan: { since, until }, at, rows }) => {
    const nowMs = performance.now()
    if (nowMs - toldMs < PROGRESS_MS) return
    toldMs = nowMs
    const part = Number(at - since) / Number(until - since)
    const leftMs = (nowMs - beganMs) * (1 - part) / part
    tell(`${source}: ${(100 * part).toFixed(1)} %, until ${formatTime(at).slice(0, 19)}, ${quantity(rows)} rows, ${duration(leftMs)} left`)
  }
}

/** @param {{source: string} & import('../copy/run.js').Copied} copied @param {boolean} isDry */
function textOf ({ source, plan, values, rows, before, deadRows, differences }, isDry) {
  if (!plan) return `${source}: nothing to copy.\n`
  const stretch = `${source}: ${formatTime(plan.since)} … ${formatTime(plan.until)}, ${values} values`
  const had = before > 0 ? `; ${before} rows had been copied before` : ''
  if (isDry) return `${stretch}, in windows of ${duration(Number(plan.windowNs) / 1e6)}${had}.\n`
  const dead = deadRows > 0 ? `; ${deadRows} rows were refused: sluice dead-letters list` : ''
  const verdict = !differences
    ? '; not compared, as the target cannot be read'
    : differences.length === 0 ? '; both have the same' : `; ${differences.length} DIFFERENCES:`
  const lines = (differences ?? []).map(({ from, sensor, here, there }) => `  from ${from}, ${sensor}: ${here}; copied: ${there}\n`)
  return `${stretch}: copied ${rows} rows${had}${dead}${verdict}\n${lines.join('')}`
}
