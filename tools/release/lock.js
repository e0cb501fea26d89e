import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packProject } from './packages.js'
import { run } from '../run.js'

/**
 * Writes the lockfile of `release/` anew, from that of the project: a release consists of what the tests ran with, Node among it.
 * @param {string} root
 */
export function writeLock (root) {
  const work = mkdtempSync(join(tmpdir(), 'sluice-lock-'))
  try {
    const { packages, ...lock } = readLock(join(root, 'package-lock.json'))
    const path = join(root, 'release', 'package.json')
    const description = JSON.parse(readFileSync(path, 'utf8'))
    for (const name in description.optionalDependencies) description.optionalDependencies[name] = packages['node_modules/node'].version
    writeJson(path, description)
    copyFileSync(path, join(work, 'package.json'))
    packProject(root, work)
    writeJson(join(work, 'package-lock.json'), { ...lock, name: 'sluice-release', packages: { ...packages, '': {} } })
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund']
    run('npm', ['install', '--package-lock-only', '--omit-lockfile-registry-resolved', ...quietly], { cwd: work })
    const made = readLock(join(work, 'package-lock.json'))
    delete made.packages['node_modules/@sluice/node-red'].integrity // the project's own tarball is another one at each commit
    writeJson(join(root, 'release', 'package-lock.json'), made)
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

/** @param {string} path @param {object} value */
function writeJson (path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}
