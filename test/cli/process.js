import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The `sluice` command as a process of its own. @param {string[]} args */
export const sluice = (...args) => sluiceIn({}, ...args)

/** The same, with more in its environment. @param {NodeJS.ProcessEnv} environment @param {string[]} args */
export const sluiceIn = (environment, ...args) => start('../../gateway/cli/sluice.js', args, environment)

/** `npm run chaos` as a process of its own. @param {string[]} args */
export const chaos = (...args) => start('../chaos/main.js', args)

/** The kill test of a Kafka group as a process of its own. @param {string[]} args */
export const members = (...args) => start('../chaos/members.js', args)

/** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [environment] */
function start (program, args, environment) {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } })
  const output = { stdout: '', stderr: '' }
  for (const name of /** @type {const} */ (['stdout', 'stderr'])) {
    child[name].setEncoding('utf8').on('data', text => { output[name] += text })
  }
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }))

  return {
    child,
    exit,
    /** Waits for a text on stdout and gives what it matched. @param {RegExp} pattern */
    async says (pattern) {
      while (true) {
        const match = pattern.exec(output.stdout)
        if (match) return match
        const ended = await Promise.race([once(child.stdout, 'data'), exit])
        if ('code' in ended && !pattern.test(output.stdout)) throw new Error(`sluice ended with ${ended.code}: ${ended.stderr}`)
      }
    }
  }
}
