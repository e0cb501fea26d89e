import { spawnSync } from 'node:child_process'

/**
 * Runs a program to its end.
 * @param {string} program
 * @param {string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, input?: string, isShown?: boolean}} [options]  `env` adds to what this process has;
 *   `isShown`: its messages, while it runs; otherwise only where it fails
 * @returns {string} what it has written to its standard output
 * @throws {Error} what it ended with
 */
export function run (program, args, { cwd, env = {}, input = '', isShown = false } = {}) {
  /** @type {NodeJS.ProcessEnv} */
  const all = { ...process.env, LC_ALL: 'C', ...env }
  delete all.npm_config_local_prefix // `npm run` says by it where it ran, and an npm in another folder believes it
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, {
    cwd, env: all, input, stdio: ['pipe', 'pipe', isShown ? 'inherit' : 'pipe'], encoding: 'utf8', maxBuffer: 2 ** 28
  })
  if (error) throw new Error(`${program} cannot be run: ${error.message}. ${packageOf(program)}`.trim(), { cause: error })
  if (status !== 0) {
    throw new Error(`${program} ${args.slice(0, 6).join(' ')} … ended with ${status ?? signal}.\n${stderr ?? ''}${stdout.slice(-4000)}`)
  }
  return stdout
}

/** @param {string} program */
export function isInstalled (program) {
  return spawnSync('sh', ['-c', `command -v "${program}"`]).status === 0
}

/** Of Debian. */
const PACKAGES = /** @type {Record<string, string>} */ ({
  mmdebstrap: 'mmdebstrap',
  'mkfs.vfat': 'dosfstools',
  mcopy: 'mtools',
  mdir: 'mtools',
  sfdisk: 'fdisk',
  mke2fs: 'e2fsprogs',
  dtc: 'device-tree-compiler',
  fdtoverlay: 'device-tree-compiler',
  zstd: 'zstd',
  ssh: 'openssh-client'
})

/** @param {string} program */
function packageOf (program) {
  return PACKAGES[program] ? `On Debian it is in the package ${PACKAGES[program]}.` : ''
}
