import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packProject } from './packages.js'
import { run } from './run.js'

/**
 * Writes the lockfile of `release/` anew, from that of the project: a release consists of what the tests ran with.
 * @param {string} root
 */
export function writeLock (root) {
  const work = mkdtempSync(join(tmpdir(), 'sluice-lock-'))
  try {
    const { packages, ...lock } = readLock(join(root, 'package-lock.json'))
    copyFileSync(join(root, 'release', 'package.json'), join(work, 'package.json'))
    packProject(root, work)
    writeLockfile(join(work, 'package-lock.json'), { ...lock, name: 'sluice-release', packages: { ...packages, '': {} } })
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund']
    run('npm', ['install', '--package-lock-only', '--omit-lockfile-registry-resolved', ...quietly], { cwd: work })
    const made = readLock(join(work, 'package-lock.json'))
    delete made.packages['node_modules/@sluice/node-red'].integrity // the project's own tarball is another one at each commit
    writeLockfile(join(root, 'release', 'package-lock.json'), made)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/**
 * @typedef {{version?: string, integrity?: string, resolved?: string, [more: string]: unknown}} LockedPackage
 * @typedef {{name: string, packages: Record<string, LockedPackage>}} Lock
 */

/** @param {string} path @returns {Lock} */
export function readLock (path) {
  return JSON.parse(readFileSync(path, 'utf8'))
}

/** @param {string} path @param {Lock} lock */
function writeLockfile (path, lock) {
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
}
