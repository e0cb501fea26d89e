import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.js'

/**
 * @typedef {object} Commit  what a release is made of, and nothing else is
 * @property {string} hash
 * @property {number} seconds  since 1970, when it was made: the time of all that a release holds
 * @property {string} version
 */

/** The commit that is checked out. @param {string} root @returns {Commit} */
export function readCommit (root) {
  const [hash, seconds] = run('git', ['log', '-1', '--format=%H %ct'], { cwd: root }).trim().split(' ')
  /** @param {string} path */
  const fileOf = path => run('git', ['show', `${hash}:${path}`], { cwd: root })
  const version = versionOf({ hash, seconds: Number(seconds) }, JSON.parse(fileOf('package.json')).version, fileOf('CHANGELOG.md'))
  return { hash, seconds: Number(seconds), version }
}

/**
 * The version in package.json where the commit is its release: where the changelog begins with it. Any other commit adds time and hash, so
 * that no two releases have one name: `0.1.0+20261123081422.091c363`.
 * @param {Pick<Commit, 'hash'|'seconds'>} commit
 * @param {string} version  in package.json
 * @param {string} changelog
 */
export function versionOf ({ hash, seconds }, version, changelog) {
  if (/^## (.*)$/m.exec(changelog)?.[1].split(' ')[0] === version) return version
  const time = new Date(seconds * 1000).toISOString().replace(/\D/g, '').slice(0, 14)
  return `${version}+${time}.${hash.slice(0, 7)}`
}

/** What of the working tree is in no commit, and so in no release. @param {string} root @returns {string[]} paths */
export function uncommitted (root) {
  return run('git', ['status', '--porcelain'], { cwd: root }).split('\n').filter(Boolean).map(line => line.slice(3))
}

/**
 * Writes the files of a commit into a folder, with the version of the release.
 * @param {string} root
 * @param {Commit} commit
 * @param {string} folder
 */
export function checkOut (root, { hash, version }, folder) {
  mkdirSync(folder)
  const archive = `${folder}.tar`
  run('git', ['archive', `--output=${archive}`, hash], { cwd: root })
  run('tar', ['-xf', archive, '-C', folder])
  const path = join(folder, 'package.json')
  writeFileSync(path, `${JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), version }, null, 2)}\n`)
}
