import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../base/errors.js'

/**
 * A child process that is watched as the papers do: processor time and memory. Linux only.
 */
export class WatchedProcess {
  #output = ''

  /** @param {string[]} args @param {{program?: string, env?: NodeJS.ProcessEnv, cwd?: string}} [options]  `program`: Node */
  constructor (args, { program = process.execPath, env, cwd } = {}) {
    this.child = spawn(program, args, { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout.on('data', text => { this.#output += text })
    this.child.stderr.on('data', text => { this.#output += text })
  }

  get output () { return this.#output }

  /**
   * Seconds of processor time so far, of all its threads, from the scheduler's own count in nanoseconds: `/proc/<pid>/stat` counts in
   * ticks of 10 ms.
   */
  get cpuSeconds () {
    const tasks = `/proc/${this.child.pid}/task`
    return readdirSync(tasks).reduce((sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e9, 0)
  }

  /** Resident memory in bytes. */
  get memoryBytes () { return this.#status('VmRSS') }

  /** The most of it that there has been. */
  get peakBytes () { return this.#status('VmHWM') }

  /** Waits until it has printed a text. @param {RegExp} text @param {number} [timeoutMs] @returns {Promise<RegExpExecArray>} */
  async says (text, timeoutMs = 60_000) {
    for (let waitedMs = 0; ; waitedMs += 20) {
      const match = text.exec(this.#output)
      if (match) return match
      if (this.child.exitCode !== null || waitedMs > timeoutMs) {
        const program = this.child.spawnargs.slice(1).join(' ')
        throw new SluiceError('SLUICE_BENCH_PROCESS', `${program} did not print ${text}, but:\n${this.#output}`)
      }
      await sleep(20)
    }
  }

  async stop () { await this.#end('SIGTERM') }

  /** As a power cut would, as far as a process can feel one. */
  async kill () { await this.#end('SIGKILL') }

  /** @param {NodeJS.Signals} signal */
  async #end (signal) {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const exited = once(this.child, 'exit')
    this.child.kill(signal)
    await exited
  }

  /** @param {'VmRSS'|'VmHWM'} what @returns {number} bytes */
  #status (what) {
    return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8'))?.[1]) * 1024
  }
}
