import { spawnSync } from 'node:child_process'

const MAX_BYTES = 2 ** 28

/**
 * Runs a program to its end.
 * @param {string} program
 * @param {string[]} args
 * @param {{input?: string, env?: NodeJS.ProcessEnv, isShown?: boolean}} [options]  `isShown`: its messages, while it runs; otherwise only
 *   where it fails
 * @returns {string} its output
 * @throws {Error} what it ended with
 */
export function run (program, args, options = {}) {
  const { isShown = false, input = '', env } = options
  const stdio = /** @type {import('node:child_process').StdioOptions} */ (['pipe', 'pipe', isShown ? 'inherit' : 'pipe'])
  const { status, signal, stdout, stderr, error } = spawnSync(program, args, { input, env, stdio, encoding: 'utf8', maxBuffer: MAX_BYTES })
  if (error) throw new Error(`${program} cannot be run: ${error.message}. ${packageOf(program)}`, { cause: error })
  if (status !== 0) throw new Error(`${program} ${args.slice(0, 6).join(' ')} … ended with ${status ?? signal}. ${stderr ?? ''}`.trim())
  return stdout
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
