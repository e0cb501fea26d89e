import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { formatTime } from '../batch/time.js'
import { SluiceError, describe } from '../base/errors.js'
import { FILE_NAME, deadLettersFolder, openDeadLetterQueue, sinkOfFolder } from '../dead-letters/queue.js'
import { requestReplay } from '../dead-letters/replay-requests.js'
import { folderNames } from '../flow/node-names.js'

/** @typedef {import('../dead-letters/dead-letter.js').DeadLetter} DeadLetter */

const USAGE = `Usage: sluice dead-letters list [--sink NAME] [--json]
       sluice dead-letters show KEY [--sink NAME] [--json]
       sluice dead-letters replay KEY… | --all [--sink NAME] [--json]

Rows that a database refused for good are kept as dead letters, with the reason.

list     one line each; with --json one JSON object a line, with every detail
show     one of them, in full
replay   has the running gateway store them again, once the cause is fixed

  --sink NAME       of one sink only
  --user-dir DIR    where the gateway keeps its data (default .sluice)

Exit status: 0; 1 when something failed or was not found; 2 for wrong arguments.
`
const PAGE = 1000

/**
 * `sluice dead-letters`
 * @param {string[]} args
 * @param {import('./sluice.js').Streams} streams
 * @returns {Promise<number>} exit status
 */
export async function deadLetters (args, { stdout, stderr }) {
  let options
  try {
    options = readArguments(args)
  } catch (error) {
    stderr.write(`sluice dead-letters: ${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    stdout.write(USAGE)
    return 0
  }
  try {
    await COMMANDS[options.command](options, stdout)
    return 0
  } catch (error) {
    stderr.write(`sluice dead-letters: ${describe(error)}\n`)
    return 1
  }
}

/**
 * @typedef {{command: keyof typeof COMMANDS, keys: string[], all: boolean, sink?: string, userDir: string, json: boolean, help?: boolean}}
 *   Options
 * @param {string[]} args
 * @returns {Options}
 */
function readArguments (args) {
  const { values, positionals: [command, ...keys] } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      'user-dir': { type: 'string', default: '.sluice' },
      sink: { type: 'string' },
      all: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' }
    }
  })
  const options = { keys, all: values.all, sink: values.sink, userDir: values['user-dir'], json: values.json, help: values.help }
  if (values.help) return { ...options, command: 'list' }
  if (command === undefined) throw new Error('list, show or replay is missing')
  if (!isCommand(command)) throw new Error(`there is no command "${command}"`)
  if (command === 'list' && keys.length > 0) throw new Error('list takes no keys')
  if (command === 'show' && keys.length !== 1) throw new Error('show takes one key')
  if (command === 'replay' && (keys.length > 0) === values.all) throw new Error('replay takes either keys or --all')
  return { ...options, command }
}

const COMMANDS = { list, show, replay }

/** @param {string} text @returns {text is keyof typeof COMMANDS} */
function isCommand (text) {
  return Object.hasOwn(COMMANDS, text)
}

/** @param {Options} options @param {NodeJS.WritableStream} stdout */
async function list ({ userDir, sink, json }, stdout) {
  let count = 0
  for (const { name, folder } of await sinkFolders(userDir, sink)) {
    const queue = await openDeadLetterQueue(folder, { readOnly: true })
    try {
      if (queue.count > 0 && count === 0 && !json) stdout.write(line('WHEN', 'SINK', 'SOURCE', 'KEY', 'REASON'))
      count += queue.count
      for (let offset = 0; offset < queue.count; offset += PAGE) {
        const page = await queue.list({ offset, limit: PAGE })
        stdout.write(page.map(letter => json
          ? `${JSON.stringify({ sink: name, ...letter })}\n`
          : line(letter.failedAt, name, letter.source, letter.key, oneLine(letter.reason.text))).join(''))
      }
    } finally {
      await queue.close()
    }
  }
  if (count === 0 && !json) stdout.write('No dead letters.\n')
}

/** @param {Options} options @param {NodeJS.WritableStream} stdout */
async function show ({ userDir, sink, keys: [key], json }, stdout) {
  const { name, letter } = await find(userDir, sink, key)
  if (json) {
    stdout.write(`${JSON.stringify({ sink: name, ...letter })}\n`)
    return
  }
  const { source, failedAt, time, reason, tags, fields, values } = letter
  const rows = [
    ['key', key], ['sink', name], ['source', source], ['refused', failedAt], ['reason', oneLine(reason.text)],
    ['time', `${formatTime(BigInt(time))} (${time} ns)`],
    ...Object.entries(tags).map(([tag, value]) => [`tag ${tag}`, value]),
    ...fields.map(({ name: field, type, unit }, f) => {
      const value = values[f] === null ? '(missing)' : JSON.stringify(values[f])
      return [`field ${field}`, `${value}  ${type}${unit ? `, ${unit}` : ''}`]
    })
  ]
  const width = Math.max(...rows.map(([title]) => title.length))
  stdout.write(rows.map(([title, value]) => `${title.padEnd(width)}  ${value}\n`).join(''))
}

/** @param {Options} options @param {NodeJS.WritableStream} stdout */
async function replay ({ userDir, sink, keys, all, json }, stdout) {
  /** @type {Map<string, string[]|null>} */
  const wanted = new Map()
  if (all) {
    for (const { folder } of await sinkFolders(userDir, sink)) {
      if (await countOf(folder) > 0) wanted.set(folder, null)
    }
  } else {
    for (const key of keys) {
      const { folder } = await find(userDir, sink, key)
      wanted.set(folder, [...wanted.get(folder) ?? [], key])
    }
  }
  let replayed = 0
  for (const [folder, its] of wanted) replayed += (await requestReplay(folder, its)).replayed
  stdout.write(json ? `${JSON.stringify({ replayed })}\n` : `Replayed ${replayed} ${replayed === 1 ? 'row' : 'rows'}.\n`)
}

/** @param {string} userDir @param {string|undefined} sink @param {string} key */
async function find (userDir, sink, key) {
  for (const { name, folder } of await sinkFolders(userDir, sink)) {
    const queue = await openDeadLetterQueue(folder, { readOnly: true })
    try {
      const letter = await queue.get(key)
      if (letter) return { name, folder, letter }
    } finally {
      await queue.close()
    }
  }
  throw new SluiceError('SLUICE_DEAD_LETTER_UNKNOWN', `There is no dead letter "${key}".`, {
    fix: '"sluice dead-letters list" shows those there are.'
  })
}

/** @param {string} folder */
async function countOf (folder) {
  const queue = await openDeadLetterQueue(folder, { readOnly: true })
  await queue.close()
  return queue.count
}

/** @param {string} userDir @param {string} [sink] @returns {Promise<{name: string, folder: string}[]>} of the sinks that keep any */
async function sinkFolders (userDir, sink) {
  const parent = deadLettersFolder(userDir)
  const files = await readdir(parent, { recursive: true }).catch(error => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const nameOf = folderNames(join(userDir, 'sluice'))
  const all = files.filter(file => basename(file) === FILE_NAME).map(file => sinkOfFolder(dirname(file)))
    .map(key => ({ key, name: nameOf(key) }))
  const found = all.filter(({ key, name }) => sink === undefined || [key, name].includes(sink)).sort((a, b) => a.name < b.name ? -1 : 1)
  if (sink !== undefined && found.length === 0) {
    throw new SluiceError('SLUICE_SINK_UNKNOWN', `No sink "${sink}" has kept dead letters in "${parent}".`, {
      fix: 'Check --sink and --user-dir.'
    })
  }
  return found.map(({ key, name }) => ({ name, folder: deadLettersFolder(userDir, key) }))
}

/** @param {string} when @param {string} sink @param {string} source @param {string} key @param {string} reason */
function line (when, sink, source, key, reason) {
  return `${when.padEnd(24)}  ${sink.padEnd(14)}  ${source.padEnd(14)}  ${key.padEnd(36)}  ${reason}\n`
}

/** @param {string} text */
function oneLine (text) {
  return text.replace(/\s+/g, ' ')
}
