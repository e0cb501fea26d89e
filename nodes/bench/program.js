import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { SluiceError } from '../../gateway/base/errors.js'

const SLUICE = fileURLToPath(new URL('../../gateway/cli/sluice.js', import.meta.url))
/** Of what it says of a failure, in characters. */
const MAX_SAID = 4000

/**
 * `sluice bench`, as on a command line: in a process of its own, so that the gateway goes on, and what is measured is not disturbed by it.
 * It ends by itself when this process does.
 */
export class BenchProgram {
  #child
  #isStopped = false

  /**
   * @param {string[]} args
   * @param {{environment?: Record<string, string>, tell?: (event: any) => void}} [options]  `environment`: besides the gateway's; `tell`:
   *   gets what `sluice bench --json` says
   */
  constructor (args, { environment = {}, tell = () => {} } = {}) {
    this.#child = spawn(process.execPath, [SLUICE, 'bench', '--json', ...args], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env: { ...process.env, ...environment }
    })
    this.ended = this.#run(tell)
  }

  /** It reports what it has measured, and ends. */
  stop () {
    this.#isStopped = true
    if (this.#child.connected) this.#child.disconnect()
  }

  /** What it has written down stays. */
  kill () {
    this.#isStopped = true
    this.#child.kill('SIGKILL')
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.destroy() // a server that it has started may hold on to them
  }

  /** @param {(event: any) => void} tell @throws {SluiceError} SLUICE_BENCH_PROGRAM */
  async #run (tell) {
    const { stdout, stderr } = /** @type {{stdout: import('node:stream').Readable, stderr: import('node:stream').Readable}} */ (this.#child)
    let said = ''
    stderr.setEncoding('utf8').on('data', text => { said = (said + text).slice(-MAX_SAID) })
    createInterface({ input: stdout }).on('line', line => { if (line.startsWith('{"event":')) tell(JSON.parse(line)) })
    // Not `close` of the child, which does not come once its channel has been closed from here.
    const [[code, signal]] = await Promise.all([once(this.#child, 'exit'), once(stdout, 'close'), once(stderr, 'close')])
    if (code === 0 || this.#isStopped) return
    const reason = said.split('\n\nUsage:')[0].replace(/^sluice bench: /, '').trim()
    throw new SluiceError('SLUICE_BENCH_PROGRAM', reason || `sluice bench ended with ${signal ?? code}.`)
  }
}
