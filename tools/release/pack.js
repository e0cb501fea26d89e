import { createHash } from 'node:crypto'
import { closeSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { run } from '../run.js'

const SUMS = 'SHA256SUMS'
const CHUNK_BYTES = 2 ** 20

/** Writes the checksums of all files of a folder into it, as sha256sum has them and checks them. @param {string} folder */
export function writeSums (folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .filter(path => path !== SUMS)
    .sort()
  writeFileSync(join(folder, SUMS), files.map(path => `${sha256Of(join(folder, path))}  ${path}\n`).join(''))
}

/**
 * Packs a folder so that the same files make the same bytes, whoever does it, where and when: in the order of their names, of user 0, with
 * the modes 755 and 644, and one time for all. It takes GNU's tar and gzip.
 * @param {string} folder  the top folder in the tarball
 * @param {string} tarball
 * @param {number} seconds  since 1970
 */
export function pack (folder, tarball, seconds) {
  const always = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX', '--format=gnu', `--mtime=@${seconds}`]
  run('tar', [...always, '--use-compress-program=gzip -9n', '-cf', tarball, '-C', dirname(folder), basename(folder)])
}

/** Writes the checksum of a tarball beside it. @param {string} tarball @returns {string} the path of the checksum */
export function writeChecksum (tarball) {
  const path = `${tarball}.sha256`
  writeFileSync(path, `${sha256Of(tarball)}  ${basename(tarball)}\n`)
  return path
}

/** @param {string} path */
export function sha256Of (path) {
  const hash = createHash('sha256')
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  const file = openSync(path, 'r')
  try {
    for (let length; (length = readSync(file, chunk)) > 0;) hash.update(chunk.subarray(0, length))
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}
