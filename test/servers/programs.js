import { accessSync, constants, existsSync, readFileSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The path of a program, looked for on the PATH and where Debian puts servers, or null.
 * @param {string} program
 */
export function findProgram (program) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map(folder => join(folder, program)).find(isExecutable) ?? null
}

/**
 * Skips a suite whose server is not on this machine, with the reason printed; throws instead where SLUICE_REQUIRE (a list of server
 * names separated by commas) says that it must be there. Call it in `before(function () { requireServer(this, …) })`.
 * @param {Mocha.Context} context
 * @param {string} server  its name in SLUICE_REQUIRE
 * @param {string|null} missing  what is missing, null when all is there
 */
export function requireServer (context, server, missing) {
  if (missing === null) return
  const reason = `${server}: ${missing}`
  if ((process.env.SLUICE_REQUIRE ?? '').split(',').includes(server)) throw new Error(`SLUICE_REQUIRE asks for ${reason}`)
  console.log(`      skipped, ${reason}`)
  context.skip()
}

/** @param {string} path */
function isExecutable (path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Stops a process until it is resumed. Resolves once it has stopped: a signal takes its time on a busy machine, in which an answer could
 * still be sent.
 * @param {number|undefined} pid
 * @returns {Promise<() => void>} resumes it
 */
export async function suspend (pid) {
  process.kill(Number(pid), 'SIGSTOP')
  const tasks = `/proc/${pid}/task`
  const isStopped = (/** @type {string} */ task) => /\) [Tt] /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8'))
  while (existsSync(tasks) && !readdirSync(tasks).every(isStopped)) await sleep(5)
  return () => { process.kill(Number(pid), 'SIGCONT') }
}
