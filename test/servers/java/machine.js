import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitForPort } from '../ports.js'
import { jarsOf } from './jars.js'

/**
 * A server in a Java virtual machine of its own.
 *
 * @typedef {object} Machine
 * @property {number|undefined} pid  while it runs
 * @property {() => Promise<void>} start  waits until the port accepts connections
 * @property {() => Promise<void>} stop  SIGTERM; SIGKILL to one that takes too long
 * @property {() => Promise<void>} kill  SIGKILL
 */

/** Servers start in a second or two, and are not measured: quick compilation and the plainest collector serve them best. */
const QUICK = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true', '-Djava.net.preferIPv4Stack=true']

/** On a machine that does much else at the time. */
const START_MS = 240_000
const STOP_MS = 20_000

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.once('exit', () => { for (const child of running) child.kill('SIGKILL') })

/**
 * @param {{name: string}} server
 * @param {object} setup
 * @param {string} [setup.classPath]  unless that of a server of `jars.js`
 * @param {string} setup.main  class
 * @param {string[]} setup.options  of the machine
 * @param {string[]} [setup.args]  of the class
 * @param {string} setup.folder  to run in
 * @param {string} [setup.host]
 * @param {number} setup.port
 * @param {boolean} [setup.isMeasured]  compiled as well as can be, which makes the start slower
 * @returns {Machine} not started
 */
export function machine (server, { classPath = jarsOf(server), main, options, args = [], folder, host, port, isMeasured = false }) {
  /** @type {import('node:child_process').ChildProcess|null} */
  let child = null
  const end = async (/** @type {NodeJS.Signals} */ signal) => {
    if (!child) return
    const its = child
    const ended = once(its, 'exit')
    its.kill(signal)
    const late = new AbortController()
    const force = sleep(STOP_MS, undefined, { signal: late.signal }).then(() => its.kill('SIGKILL'), () => {})
    await ended
    late.abort()
    await force
  }
  return {
    get pid () { return child?.pid },
    async start () {
      const quick = isMeasured ? QUICK.filter(option => !option.includes('Tiered')) : QUICK
      const its = spawn('java', [...quick, ...options, '-cp', classPath, main, ...args], {
        cwd: folder, stdio: ['ignore', 'pipe', 'pipe']
      })
      let log = ''
      for (const output of [its.stdout, its.stderr]) output.on('data', text => { log = (log + text).slice(-4000) })
      running.add(its)
      its.once('exit', () => {
        running.delete(its)
        if (child === its) child = null
      })
      child = its
      await waitForPort(port, { host, patienceMs: START_MS, gone: () => child === its ? null : `${server.name} has ended:\n${log}` })
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL')
  }
}
