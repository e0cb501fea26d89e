import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../errors.js'

/** What `/proc/<pid>/stat` counts in. */
const TICKS_PER_SECOND = 100

/**
 * A child process that is watched as the papers do: processor time and memory. Linux only.
 */
export class WatchedProcess {
  #output = ''

  /** @param {string[]} args  of Node @param {{env?: NodeJS.ProcessEnv, cwd?: string}} [options] */
  constructor (args, { env, cwd } = {}) {
    this.child = spawn(process.execPath, args, { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout.on('data', text => { this.#output += text })
    this.child.stderr.on('data', text => { this.#output += text })
  }

  get output () { return this.#output }

  /** Seconds of processor time, user and system, so far. */
  get cpuSeconds () {
    const stat = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  }

  /** Resident memory in bytes. */
  get memoryBytes () {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))?.[1]) * 1024
  }

  /** @param {RegExp} text @param {number} [timeoutMs] */
  async says (text, timeoutMs = 60_000) {
    for (let waitedMs = 0; !text.test(this.#output); waitedMs += 20) {
      if (this.child.exitCode !== null || waitedMs > timeoutMs) {
        throw new SluiceError('SLUICE_BENCH_PROCESS', `${this.child.spawnargs.slice(1).join(' ')} did not say ${text}. It said:\n${this.#output}`)
      }
      await sleep(20)
    }
  }

  async stop () {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exited = once(this.child, 'exit')
    this.child.kill('SIGTERM')
    await exited
  }
}
