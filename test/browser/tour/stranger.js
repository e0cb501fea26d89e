import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * Somebody with a fresh clone and a terminal, who types what the README says.
 *
 * @typedef {object} Difference  between the README's machine and this one
 * @property {string} readme  what is written there
 * @property {string} here  what stands for it
 * @property {string} [file]  of the clone, where it is so; in the commands without it
 */
export class Stranger {
  #differences
  #environment
  /** @type {Set<Program>} */
  #programs = new Set()
  /** The differences in commands that were met. @type {Set<Difference>} */
  met = new Set()

  /**
   * @param {string} folder
   * @param {Difference[]} differences
   * @param {Record<string, string>} environment
   */
  constructor (folder, differences, environment) {
    this.folder = folder
    this.#differences = differences.filter(({ file }) => !file)
    this.#environment = environment
    process.on('exit', () => this.#programs.forEach(({ kill }) => kill('SIGKILL')))
  }

  /**
   * Clones the repository as it is now, with the packages that are installed already.
   * @param {(folder: string) => Difference[]} differencesIn
   * @param {Record<string, string>} environment
   */
  static async moveIn (differencesIn, environment) {
    const home = await mkdtemp(join(tmpdir(), 'sluice-stranger-'))
    const folder = join(home, 'sluice')
    await mkdir(folder)
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, maxBuffer: 2 ** 26 })
    execFileSync('xargs', ['-0', 'cp', '--parents', '--no-dereference', `--target-directory=${folder}`], { cwd: ROOT, input: files })
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await utimes(join(folder, 'package-lock.json'), 0, 0) // or the first start would install into the packages of this test
    const differences = differencesIn(folder)
    for (const { file, readme, here } of differences) {
      if (!file) continue
      const text = await readFile(join(folder, file), 'utf8')
      if (!text.includes(readme)) throw new Error(`${file} has no ${readme}.`)
      await writeFile(join(folder, file), text.replaceAll(readme, here))
    }
    return new Stranger(folder, differences, environment)
  }

  /** What differs, and was not met in any command. */
  get unmet () { return this.#differences.filter(each => !this.met.has(each)) }

  /** Types commands that end, and gives what they print. @param {string} commands */
  async type (commands) {
    const { stdout } = await promisify(execFile)('sh', ['-e', '-c', this.#here(commands)], this.#options)
    return stdout
  }

  /** Types commands of which the last one stays. @param {string} commands */
  start (commands) {
    const child = spawn('sh', ['-c', this.#here(commands)], { ...this.#options, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    const program = new Program(child)
    this.#programs.add(program)
    program.ended.then(() => this.#programs.delete(program))
    return program
  }

  async moveOut () {
    for (const program of this.#programs) await program.interrupt()
    await rm(join(this.folder, '..'), { recursive: true, maxRetries: 5 })
  }

  get #options () {
    return { cwd: this.folder, env: { ...process.env, ...this.#environment } }
  }

  /** @param {string} commands */
  #here (commands) {
    return this.#differences.reduce((text, difference) => {
      if (text.includes(difference.readme)) this.met.add(difference)
      return text.replaceAll(difference.readme, difference.here)
    }, commands)
  }
}

/** What stays in the foreground of a terminal, and whatever it started. */
class Program {
  #child
  /** All that it printed. */
  said = ''

  /** @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child */
  constructor (child) {
    this.#child = child
    this.ended = once(child, 'close').then(([code, signal]) => ({ code, signal }))
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => { this.said += text })
  }

  /** Waits until it has printed something. @param {string} text */
  async says (text) {
    while (!this.said.includes(text)) {
      const hasEnded = await Promise.race([this.ended.then(() => true), once(this.#child.stdout, 'data').then(() => false)])
      if (hasEnded) throw new Error(`It ended before it said "${text}":\n${this.said}`)
    }
  }

  /** Presses Ctrl-C, and waits for the end. */
  async interrupt () {
    this.kill('SIGINT')
    return await this.ended
  }

  /** A terminal sends its signals to all that runs in it. */
  kill = (/** @type {NodeJS.Signals} */ signal) => {
    try {
      process.kill(-(/** @type {number} */ (this.#child.pid)), signal)
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error
    }
  }
}
