import { spawnSync } from 'node:child_process'

/**
 * Runs a program, whose messages are shown, to its end.
 * @param {string} program
 * @param {string[]} args
 * @param {{input?: string, env?: NodeJS.ProcessEnv, cwd?: string}} [options]
 * @returns {string} its output
 * @throws {Error} what it ended with
 */
export function run (program, args, options = {}) {
  const { status, signal, stdout, error } = spawnSync(program, args, {
    ...options, encoding: 'utf8', stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'inherit'], maxBuffer: 2 ** 28
  })
  if (error) throw new Error(`${program} cannot be run: ${error.message}. ${packageOf(program)}`, { cause: error })
  if (status !== 0) throw new Error(`${program} ${args.slice(0, 6).join(' ')} … ended with ${status ?? signal}.`)
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
  zstd: 'zstd',
  'qemu-img': 'qemu-utils',
  'qemu-system-aarch64': 'qemu-system-arm',
  ssh: 'openssh-client'
})

/** @param {string} program */
function packageOf (program) {
  return PACKAGES[program] ? `On Debian it is in the package ${PACKAGES[program]}.` : ''
}
