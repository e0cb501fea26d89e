import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/**
 * @typedef {object} Difference  between the README's machine and this one
 * @property {string} readme  what is written there
 * @property {string} here  what stands for it
 * @property {string} [file]  of the clone, which has it; without it, commands have it
 */

/** Somebody with a fresh clone and a terminal, who types what the README says. */
export class Stranger {
  #home
  #folder
  #differences
  #environment
  /** @type {Set<Program>} */
  #programs = new Set()
  /** Differences in commands that were not met yet. @type {Set<Difference>} */
  unmet

  /**
   * @param {string} home
   * @param {string} folder
   * @param {Difference[]} differences
   * @param {NodeJS.ProcessEnv} environment
   */
  constructor (home, folder, differences, environment) {
    this.#home = home
    this.#folder = folder
    this.#differences = differences
    this.#environment = { ...process.env, ...environment }
    this.unmet = new Set(differences)
    process.on('exit', () => this.#programs.forEach(program => program.signal('SIGKILL')))
  }

  /**
   * Clones the repository, with the packages that are installed already.
   * @param {NodeJS.ProcessEnv} environment
   * @param {(home: string) => Promise<Difference[]>} prepare  makes what else is needed, in the folder that has the clone, too
   */
  static async moveIn (environment, prepare) {
    const home = await mkdtemp(join(tmpdir(), 'sluice-stranger-'))
    const folder = join(home, 'sluice')
    await mkdir(folder)
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, maxBuffer: 2 ** 26 })
    execFileSync('xargs', ['-0', 'cp', '--parents', `--target-directory=${folder}`], { cwd: ROOT, input: files })
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await utimes(join(folder, 'package-lock.json'), 0, 0) // a newer one would have the first start install into that
    const differences = await prepare(home)
    for (const { file, readme, here } of differences) {
      if (!file) continue
      const text = await readFile(join(folder, file), 'utf8')
      if (!text.includes(readme)) throw new Error(`${file} has no "${readme}" any more.`)
      await writeFile(join(folder, file), text.replaceAll(readme, here))
    }
    return new Stranger(home, folder, differences.filter(({ file }) => !file), environment)
  }

  /** Types commands that end, and gives what they print. @param {string} commands */
  async type (commands) {
    const { stdout } = await promisify(execFile)('sh', ['-e', '-c', this.#here(commands)], { cwd: this.#folder, env: this.#environment })
    return stdout
  }

  /** Types commands of which the last one stays, in a terminal of its own. @param {string} commands */
  start (commands) {
    const program = new Program(this.#here(commands), this.#folder, this.#environment)
    this.#programs.add(program)
    program.ended.then(() => this.#programs.delete(program))
    return program
  }

  async moveOut () {
    for (const program of this.#programs) await program.interrupt()
    await rm(this.#home, { recursive: true, maxRetries: 5 })
  }

  /** @param {string} commands */
  #here (commands) {
    return this.#differences.reduce((text, difference) => {
      if (text.includes(difference.readme)) this.unmet.delete(difference)
      return text.replaceAll(difference.readme, difference.here)
    }, commands)
  }
}

/** What stays in the foreground of a terminal, with whatever it has started. */
export class Program {
  #child
  /** All that it printed. */
  said = ''
  hasEnded = false

  /** @param {string} commands @param {string} cwd @param {NodeJS.ProcessEnv} env */
  constructor (commands, cwd, env) {
    this.#child = spawn('sh', ['-e', '-c', commands], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    this.ended = once(this.#child, 'close').then(() => { this.hasEnded = true })
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.setEncoding('utf8').on('data', text => { this.said += text })
  }

  /** Waits until it has printed something. @param {string} text */
  async says (text) {
    while (!this.said.includes(text)) {
      if (this.hasEnded) throw new Error(`It ended before it said "${text}":\n${this.said}`)
      await Promise.race([this.ended, once(this.#child.stdout, 'data')])
    }
  }

  /** Presses Ctrl-C, and waits for the end. */
  async interrupt () {
    this.signal('SIGINT')
    await this.ended
  }

  /** A terminal sends its signals to all that runs in it. @param {NodeJS.Signals} signal */
  signal (signal) {
    try {
      process.kill(-(/** @type {number} */ (this.#child.pid)), signal)
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error
    }
  }
}
