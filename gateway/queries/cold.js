import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { SluiceError, describe } from '../base/errors.js'

/**
 * Caches emptied before a query, so that it reads from disk: the server's by a restart, the system's where this process may.
 *
 * @typedef {{cache: 'warm'|'cold', cacheReason: string}} Cache  what the query has met, and why
 */

const DROP_CACHES = '/proc/sys/vm/drop_caches'

/** Page cache, names and inodes. */
const ALL_CACHES = '3'

const RESTART_TIMEOUT_MS = 120_000
const ANSWER_TIMEOUT_MS = 60_000
const PAUSE_MS = 100

const run = promisify(execFile)

/**
 * @param {object} options
 * @param {string} options.restart  the command that restarts the server, and its arguments, which no shell reads
 * @param {{place: string, test: (options?: {signal?: AbortSignal}) => Promise<string>}} [options.server]  none of a database that is a file
 * @param {AbortSignal} [options.signal]
 * @param {() => Promise<void>} [options.drop]  empties the system's caches
 * @returns {Promise<Cache>}
 * @throws {SluiceError} SLUICE_QUERY_RESTART
 */
export async function chill ({ restart, server, signal, drop = dropCaches }) {
  const reasons = []
  if (server) {
    if (!isLocal(server.place)) return warm(`the caches of another machine are not dropped from here (${server.place})`)
    if (restart.trim() === '') reasons.push('no command to restart the server is set')
    else await restartServer(restart, server, signal)
  }
  try {
    await drop()
  } catch (error) {
    reasons.push(`the system's caches cannot be dropped: ${describe(error)}`)
  }
  if (reasons.length > 0) return warm(reasons.join('; '))
  return { cache: 'cold', cacheReason: `${server ? 'the server was restarted, and ' : ''}the system's caches were dropped` }
}

/** What is not on disk yet cannot be dropped. */
async function dropCaches () {
  await run('sync')
  await writeFile(DROP_CACHES, ALL_CACHES)
}

/** @param {string} cacheReason @returns {Cache} */
export function warm (cacheReason) {
  return { cache: 'warm', cacheReason }
}

/** Whether a server runs on this machine, by where it is said to be. @param {string} place */
function isLocal (place) {
  return / at (localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])|\/)/.test(place)
}

/**
 * @param {string} command
 * @param {{test: (options?: {signal?: AbortSignal}) => Promise<string>}} server
 * @param {AbortSignal} [signal]
 */
async function restartServer (command, server, signal) {
  const [program, ...args] = command.trim().split(/\s+/)
  const fix = 'Run the command by hand, as the gateway\'s user.'
  const failed = (/** @type {unknown} */ cause, /** @type {string} */ what) =>
    new SluiceError('SLUICE_QUERY_RESTART', `${what}: ${describe(cause)}`, { cause, fix })
  try {
    await run(program, args, { timeout: RESTART_TIMEOUT_MS, signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw failed(error, `"${program}", which is to restart the server, has failed`)
  }
  const endMs = performance.now() + ANSWER_TIMEOUT_MS
  for (;;) {
    try {
      await server.test({ signal })
      return
    } catch (error) {
      signal?.throwIfAborted()
      if (performance.now() > endMs) throw failed(error, 'The server does not answer after its restart')
      await sleep(PAUSE_MS, undefined, { signal })
    }
  }
}
