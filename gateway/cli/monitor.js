import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { SluiceError, describe } from '../base/errors.js'
import { LocalMonitor } from '../stats/monitor/monitor.js'
import { SAMPLE_PATH, serveMonitor } from '../stats/monitor/server.js'

const USAGE = `Usage: sluice monitor [--process NAME=PID|FILE]… [--folder NAME=PATH]… [--host ADDRESS] [--port N] [--token-file FILE]

Tells a bench on another machine what this one uses, until Ctrl-C: processor time, memory, disk and network of the machine, and of each
process with all that it has started. Linux only.

  --process NAME=PID     a process, such as postgresql=1234; a file has its id in the first line, and is read again when the process
                         has ended, such as postgresql=/var/lib/postgresql/15/main/postmaster.pid
  --folder NAME=PATH     a folder, whose growth counts, such as data=/var/lib/postgresql
  --host ADDRESS         where to listen (default 127.0.0.1: this machine only). What is sent is not encrypted
  --port N               default 1879; 0 takes any that is free
  --token-file FILE      whoever sends what is in this file as bearer token may read; or it is in the environment, as SLUICE_MONITOR_TOKEN

Disk and network of a process are told only to its own user and to root; what cannot be read is left out.

Exit code: 0 stopped, 1 it failed, 2 the command was wrong.
`

const OPTIONS = /** @type {const} */ ({
  process: { type: 'string', multiple: true },
  folder: { type: 'string', multiple: true },
  host: { type: 'string', default: '127.0.0.1' },
  port: { type: 'string', default: '1879' },
  'token-file': { type: 'string' },
  help: { type: 'boolean', short: 'h', default: false }
})

/** @type {import('./sluice.js').Command} */
export async function monitor (args, { stdout, stderr }) {
  let watched, place
  try {
    const { values } = parseArgs({ args, options: OPTIONS })
    if (values.help) {
      stdout.write(USAGE)
      return 0
    }
    watched = {
      processes: named('--process', values.process ?? [], value => ({ pid: /^\d+$/.test(value) ? Number(value) : value })),
      folders: named('--folder', values.folder ?? [], path => path),
      machine: true
    }
    place = { host: values.host, port: portOf(values.port), token: tokenFrom(values['token-file']) }
  } catch (error) {
    stderr.write(`sluice monitor: ${describe(error)}\n`)
    return 2
  }
  try {
    const local = new LocalMonitor(watched)
    const { notes } = await local.read()
    const served = await serveMonitor(local, place)
    for (const note of notes) stderr.write(`Absent: ${note}.\n`)
    stdout.write(`Watching. Samples are at ${served.url}${SAMPLE_PATH}, for whoever has the token.\nCtrl-C stops it.\n`)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await served.close()
    return 0
  } catch (error) {
    stderr.write(`sluice monitor: ${describe(error)}\n`)
    return 1
  }
}

/**
 * @template T
 * @param {string} option
 * @param {string[]} texts  NAME=VALUE
 * @param {(value: string) => T} valueOf
 * @returns {Record<string, T>}
 */
function named (option, texts, valueOf) {
  return Object.fromEntries(texts.map(text => {
    const [, name, value] = /^([\w.-]+)=(.+)$/.exec(text) ?? []
    if (name === undefined) throw usageError(`${option} must be NAME=VALUE; it is "${text}".`)
    return [name, valueOf(value)]
  }))
}

/** @param {string} text */
function portOf (text) {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65535) throw usageError(`--port must be a number from 0 to 65535; it is "${text}".`)
  return port
}

/** @param {string|undefined} file @returns {string} */
function tokenFrom (file) {
  try {
    const token = file === undefined ? process.env.SLUICE_MONITOR_TOKEN : readFileSync(file, 'utf8')
    if (token?.trim()) return token.trim()
  } catch (cause) {
    throw new SluiceError('SLUICE_MONITOR_ACCESS', `${file} cannot be read.`, { fix: 'Check its path and its permissions.', cause })
  }
  throw new SluiceError('SLUICE_MONITOR_ACCESS', 'There is no token, and without one everybody on this machine could ask.', {
    fix: 'Write one into a file (openssl rand -hex 32) and name it with --token-file, or put it into SLUICE_MONITOR_TOKEN.'
  })
}

/** @param {string} what */
function usageError (what) {
  return new SluiceError('SLUICE_USAGE', what, { fix: 'See sluice monitor --help.' })
}
