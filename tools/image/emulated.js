import { existsSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../run.js'

const NAME = 'qemu-aarch64'
const RULE = `/usr/lib/binfmt.d/${NAME}.conf`

/**
 * Runs something while this machine's kernel hands programs of arm64 to QEMU. What was not registered before is not afterwards.
 * @template T
 * @param {() => T} task
 * @returns {T}
 */
export function withArmPrograms (task) {
  if (process.arch === 'arm64' || existsSync(`/proc/sys/fs/binfmt_misc/${NAME}`)) return task()
  if (!existsSync(RULE)) throw new Error(`${RULE} is missing: install qemu-user-static.`)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-binfmt-'))
  run('mount', ['-t', 'binfmt_misc', 'none', folder])
  const registered = join(folder, NAME)
  const isOurs = !existsSync(registered)
  try {
    if (isOurs) writeFileSync(join(folder, 'register'), readFileSync(RULE, 'utf8').trim())
    return task()
  } finally {
    if (isOurs && existsSync(registered)) writeFileSync(registered, '-1')
    run('umount', [folder])
    rmdirSync(folder)
  }
}
