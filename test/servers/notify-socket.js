import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findProgram, requireServer } from './programs.js'
import { startPython } from './python.js'

/** Skips the suite where nothing can be told to systemd. @param {Mocha.Context} context */
export function requireNotify (context) {
  const missing = ['systemd-notify', 'python3'].find(program => !findProgram(program))
  requireServer(context, 'systemd-notify', missing ? `${missing} is not installed (apt-get install systemd python3)` : null)
}

/** Hears what a service tells systemd. */
export class NotifySocket {
  /** Message by message. @type {string[]} */
  heard = []
  #folder
  #python
  #lines

  static async listen () {
    const socket = new NotifySocket(await mkdtemp(join(tmpdir(), 'sluice-notify-')))
    await socket.hears('listening')
    return socket
  }

  /** @param {string} folder */
  constructor (folder) {
    this.#folder = folder
    this.path = join(folder, 'socket')
    this.#python = startPython('notify_socket.py', [this.path])
    this.#lines = createInterface(this.#python.stdout).on('line', line => this.heard.push(JSON.parse(line)))
  }

  /** Waits for a message that was not there before. @param {string} text  as it begins @param {number} [from]  how many to leave out */
  async hears (text, from = 0) {
    while (!this.heard.slice(from).some(message => message.startsWith(text))) await once(this.#lines, 'line')
  }

  async close () {
    this.#python.kill('SIGKILL')
    await once(this.#python, 'close')
    await rm(this.#folder, { recursive: true })
  }
}
