import { open, readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { SluiceError } from '../base/errors.js'
import { ARCHITECTURE, compareVersions, isVersion } from './release.js'

const NAME = /^sluice-(.+)-linux-([a-z0-9]+)\.tar\.gz$/

/** @typedef {{path: string, version: string, arch: string}} Tarball  by its name, which is signed */

/**
 * A release's file, or the newest for this machine in a folder.
 * @param {string} path
 * @returns {Promise<Tarball>}
 * @throws {SluiceError} SLUICE_UPDATE_FILE
 */
export async function findTarball (path) {
  const about = await stat(path).catch(cause => { throw notFound(`${path} cannot be read.`, cause) })
  if (!about.isDirectory()) {
    const tarball = read(path)
    if (tarball) return tarball
    throw notFound(`${path} is not named like a release: sluice-VERSION-linux-${ARCHITECTURE}.tar.gz.`)
  }
  const found = (await readdir(path)).map(name => read(join(path, name))).filter(each => each?.arch === ARCHITECTURE)
  const [newest] = /** @type {Tarball[]} */ (found).sort((a, b) => compareVersions(b.version, a.version))
  if (newest) return newest
  throw notFound(`There is no sluice-VERSION-linux-${ARCHITECTURE}.tar.gz in ${path}.`)
}

/** What it takes unpacked, in bytes: gzip says so at its end. @param {string} path */
export async function unpackedBytes (path) {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, Math.max(0, size - 4))
    return buffer.readUInt32LE(0)
  } finally {
    await file.close()
  }
}

/** @param {string} path @returns {Tarball|null} */
function read (path) {
  const [, version, arch] = NAME.exec(basename(path)) ?? []
  return version !== undefined && isVersion(version) ? { path, version, arch } : null
}

/** @param {string} message @param {unknown} [cause] */
function notFound (message, cause) {
  return new SluiceError('SLUICE_UPDATE_FILE', message, { fix: 'Give the file of a release, or a folder that has one.', cause })
}
