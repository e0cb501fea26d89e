import { spawn } from 'node:child_process'
import { once } from 'node:events'

/**
 * The job of an engine, with all processes that it starts.
 *
 * @typedef {object} Job
 * @property {string} log  its end
 * @property {boolean} isRunning
 * @property {Promise<number|null>} ended  with its exit code; null: it was killed
 * @property {() => Promise<void>} kill  SIGKILL to all of them
 */

const LOG_CHARACTERS = 200_000

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.once('exit', () => { for (const child of running) killAll(child) })

/** @param {string} program @param {string[]} args @param {{folder: string, environment: Record<string, string>}} setup @returns {Job} */
export function startJob (program, args, { folder, environment }) {
  const child = spawn(program, args, {
    cwd: folder, env: { ...process.env, ...environment }, detached: true, stdio: ['ignore', 'pipe', 'pipe']
  })
  running.add(child)
  let log = ''
  for (const output of [child.stdout, child.stderr]) output.on('data', text => { log = (log + text).slice(-LOG_CHARACTERS) })
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child)
    return code
  })
  return {
    get log () { return log },
    get isRunning () { return running.has(child) },
    ended,
    async kill () {
      killAll(child)
      await ended
    }
  }
}

/** It leads a group of its own. @param {import('node:child_process').ChildProcess} child */
function killAll ({ pid }) {
  try {
    process.kill(-Number(pid), 'SIGKILL')
  } catch {
    // all have ended
  }
}
