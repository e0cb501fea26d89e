import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { findProgram, requireServer } from './programs.js'

const program = findProgram('socat')

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.on('exit', () => running.forEach(child => child.kill('SIGKILL')))

/** Skips the suite where socat is not installed. @param {Mocha.Context} context */
export function requirePty (context) {
  requireServer(context, 'socat', program ? null : 'the program socat is not installed (apt-get install socat)')
}

/**
 * Two serial ports, connected to each other as by a null modem, that can be pulled out and plugged in again. They have no baud rate to
 * speak of.
 */
export async function ptyPair () {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-pty-'))
  const pair = new PtyPair(folder)
  await pair.plug()
  return pair
}

class PtyPair {
  /** @type {import('node:child_process').ChildProcess|null} */
  #process = null
  #folder

  /** @param {string} folder */
  constructor (folder) {
    this.#folder = folder
    this.paths = ['a', 'b'].map(name => join(folder, name))
  }

  async plug () {
    const child = spawn(/** @type {string} */ (program), this.paths.map(path => `PTY,rawer,link=${path}`), { stdio: 'ignore' })
    child.unref() // or a test that fails would keep mocha from ending
    running.add(child)
    child.once('exit', () => running.delete(child))
    this.#process = child
    while (!this.paths.every(path => existsSync(path))) {
      if (child.exitCode !== null) throw new Error(`socat exited with ${child.exitCode}.`)
      await sleep(5)
    }
  }

  async unplug () {
    const child = this.#process
    this.#process = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    child.kill()
    await once(child, 'exit')
  }

  async close () {
    await this.unplug()
    await rm(this.#folder, { recursive: true })
  }
}
