import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The oldest version that runs with the packages of this one. It writes what that of `LEFT` did: see stages.js. */
export const BACK_TO = '6ad73e50466e9d0aafe2ac62d868ea7b585cbc9c'

/** Whether the repository has a commit: a shallow clone lacks those of old. @param {string} commit */
export function hasCommit (commit) {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/**
 * Writes the code of a commit into a folder, with the packages of this one.
 * @param {string} commit
 * @param {string} folder
 * @returns {string} its command
 */
export function checkOut (commit, folder) {
  mkdirSync(folder, { recursive: true })
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'gateway', 'cli', 'sluice.js')
}
