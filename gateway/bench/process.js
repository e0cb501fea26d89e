import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError } from '../base/errors.js'
import { SingleProcess, memoryIn } from '../stats/monitor/single-process.js'
import { SystemFiles } from '../stats/monitor/system-files.js'

const files = new SystemFiles()

/**
 * A child process that is watched as the papers do: processor time and memory. Linux only.
 */
export class WatchedProcess {
  #output = ''
  /** @type {SingleProcess|undefined} */
  #process

  /** @param {string[]} args @param {{program?: string, env?: NodeJS.ProcessEnv, cwd?: string}} [options]  `program`: Node */
  constructor (args, { program = process.execPath, env, cwd } = {}) {
    this.child = spawn(program, args, { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    this.child.stdout.on('data', text => { this.#output += text })
    this.child.stderr.on('data', text => { this.#output += text })
  }

  get output () { return this.#output }

  /** Seconds of processor time so far, of all its threads. */
  get cpuSeconds () {
    this.#process ??= new SingleProcess(files, this.child.pid ?? 0)
    if (!this.#process.read()) throw this.#isNotThere()
    return this.#process.totals.cpuSeconds
  }

  /** Resident memory in bytes. */
  get memoryBytes () { return this.#memory.rssBytes }

  /** The most of it that there has been. */
  get peakBytes () { return this.#memory.peakRssBytes }

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

  get #memory () {
    const status = files.text(`/proc/${this.child.pid}/status`)
    if (status === undefined) throw this.#isNotThere()
    return memoryIn(status)
  }

  #isNotThere () { return new SluiceError('SLUICE_BENCH_PROCESS', `${this.child.spawnargs[1]} does not run, or this is not Linux.`) }
}
