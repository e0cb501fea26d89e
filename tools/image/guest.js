import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../run.js'

const TRY_MS = 1000
const ANSWER_MS = 20_000
/** Of what a program has written. */
const SHOWN = 4000

/** A key with which a test may log in to the machines that it starts, and to no others. */
export class Key {
  /** @param {string} folder */
  constructor (folder) {
    this.file = join(folder, 'key')
    run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', this.file])
    this.publicLine = readFileSync(`${this.file}.pub`, 'utf8').trim()
  }

  /** systemd takes it from the kernel's command line, so that the card is as everybody gets it. */
  get credential () {
    return `systemd.set_credential_binary=ssh.authorized_keys.root:${Buffer.from(`${this.publicLine}\n`).toString('base64')}`
  }
}

/** The system in an emulated machine, as others on its network reach it. */
export class Guest {
  ports
  #key

  /** @param {import('./machine.js').Ports} ports @param {Key} key */
  constructor (ports, key) {
    this.ports = ports
    this.#key = key
  }

  /**
   * Runs a line of shell as root.
   * @param {string} command
   * @param {{input?: import('node:stream').Readable, limitMs?: number}} [options]
   * @returns {Promise<string>} its output
   */
  async run (command, { input, limitMs = 120_000 } = {}) {
    const child = spawn('ssh', [
      '-i', this.#key.file, '-p', String(this.ports.ssh), '-o', 'BatchMode=yes', '-o', 'StrictHostKeyChecking=no', '-o', 'LogLevel=ERROR',
      '-o', 'UserKnownHostsFile=/dev/null', '-o', 'ConnectTimeout=20', 'root@127.0.0.1', command
    ], { timeout: limitMs })
    if (input) input.pipe(child.stdin)
    else child.stdin.end()
    let output = ''
    let problems = ''
    child.stdout.setEncoding('utf8').on('data', text => { output += text })
    child.stderr.setEncoding('utf8').on('data', text => { problems += text })
    const [code] = await once(child, 'close')
    if (code === 0) return output
    const how = code === null ? `did not end in ${limitMs / 1000} s` : `ended with ${code}`
    throw new Error(`In the guest, "${command.slice(0, 200)}" ${how}: ${(output + problems).slice(-SHOWN)}`)
  }

  /** Until a line of shell succeeds. @param {string} command @param {number} limitMs @returns {Promise<string>} its output */
  async until (command, limitMs) {
    return until(() => this.run(command), limitMs)
  }

  /**
   * @param {string} path
   * @param {{method?: string, headers?: Record<string, string>, body?: string}} [options]
   * @returns {Promise<{status: number, body: string}>}
   */
  fetch (path, { method = 'GET', headers = {}, body } = {}) {
    return new Promise((resolve, reject) => {
      const address = { host: '127.0.0.1', port: this.ports.editor, path, rejectUnauthorized: false }
      const sent = request({ ...address, method, headers, timeout: ANSWER_MS })
      sent.on('timeout', () => sent.destroy(new Error(`no answer in ${ANSWER_MS / 1000} s`)))
      sent.on('error', reject)
      sent.on('response', response => {
        let text = ''
        response.setEncoding('utf8').on('data', part => { text += part })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
        response.on('error', reject)
      })
      sent.end(body)
    })
  }

  /** Until the gateway's flow runs. @param {number} limitMs */
  async healthy (limitMs) {
    await until(async () => {
      const { status, body } = await this.fetch('/sluice/health')
      if (status !== 200) throw new Error(`/sluice/health: ${status} ${body.slice(0, 200)}`)
    }, limitMs)
  }
}

/**
 * @template T
 * @param {() => Promise<T>} attempt
 * @param {number} limitMs
 * @returns {Promise<T>}
 */
export async function until (attempt, limitMs) {
  const endMs = Date.now() + limitMs
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (Date.now() > endMs) throw error
    }
    await sleep(TRY_MS)
  }
}
