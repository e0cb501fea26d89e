import { spawnSync } from 'node:child_process'

/**
 * Runs a program to its end.
 * @param {string} program
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv}} [options]  `env` adds to what this process has
 * @returns {string} what it has written to its standard output
 */
export function run (program, args, { cwd, env = {} } = {}) {
  /** @type {NodeJS.ProcessEnv} */
  const all = { ...process.env, LC_ALL: 'C', ...env }
  delete all.npm_config_local_prefix // `npm run` says by it where it ran, and an npm in another folder believes it
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env: all, encoding: 'utf8', maxBuffer: 2 ** 28 })
  if (error) throw new Error(`${program} cannot be run: ${error.message}`, { cause: error })
  if (status !== 0) throw new Error(`${program} ${args.slice(0, 3).join(' ')} … failed.\n${stderr}${stdout.slice(-4000)}`)
  return stdout
}

/** @param {string} program */
export function isInstalled (program) {
  return spawnSync('sh', ['-c', `command -v "${program}"`]).status === 0
}
