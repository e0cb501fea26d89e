import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SluiceError } from '../base/errors.js'

/**
 * Which versions of what is kept on disk a release reads, and which it writes, by the name of the format: see `broker/formats.js`.
 *
 * @typedef {Record<string, {reads: number[], writes: number}>} Formats
 */

/**
 * What a release says of itself, in its `release.json`.
 *
 * @typedef {object} Release
 * @property {string} version
 * @property {string} arch  as Debian names it
 * @property {Formats} formats
 */

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?$/

/** Of this machine, as Debian names it. */
export const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch

/** @param {string} text */
export function isVersion (text) { return VERSION.test(text) }

/**
 * By semantic versioning: negative where the first is older. Builds of one version, whose text begins with their time, are in its order.
 * @param {string} one
 * @param {string} other
 */
export function compareVersions (one, other) {
  const [a, b] = [one, other].map(text => /** @type {RegExpExecArray} */ (VERSION.exec(text)).slice(1))
  const difference = [0, 1, 2].map(i => Number(a[i]) - Number(b[i])).find(each => each !== 0)
  if (difference) return difference
  if (a[3] !== b[3]) return a[3] === undefined ? 1 : b[3] === undefined ? -1 : inOrder(a[3], b[3])
  return inOrder(a[4] ?? '', b[4] ?? '')
}

/** @param {string} a @param {string} b */
function inOrder (a, b) { return a.localeCompare(b, 'en', { numeric: true }) }

/** @param {string} folder @returns {Promise<Release>} @throws {SluiceError} SLUICE_UPDATE_FILE */
export async function readRelease (folder) {
  const path = join(folder, 'release.json')
  try {
    const { version, arch, formats } = JSON.parse(await readFile(path, 'utf8'))
    if (isVersion(version) && typeof arch === 'string' && typeof formats === 'object') return { version, arch, formats }
    throw new Error('It lacks version, arch or formats.')
  } catch (cause) {
    throw new SluiceError('SLUICE_UPDATE_FILE', `${path} does not say what release this is.`, {
      fix: 'Download the release again.', cause
    })
  }
}

/**
 * Formats that one release writes and another, which knows them, does not read.
 * @param {Formats} writer
 * @param {Formats} reader
 * @returns {string[]} as in "spool 3"
 */
export function unread (writer, reader) {
  return Object.entries(writer)
    .filter(([name, { writes }]) => reader[name] && !reader[name].reads.includes(writes))
    .map(([name, { writes }]) => `${name} ${writes}`)
}
