import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { extract } from 'tar'
import { isDiskFull, namingDisk } from '../base/disk-full.js'
import { SluiceError } from '../base/errors.js'
import { CHUNK_BYTES, checkHash, damaged } from './signature.js'

const SUMS = 'SHA256SUMS'
/**
 * Of the tarball, a third of what they become. The gateway runs meanwhile: what it flushes itself, as each commit of a database, may have
 * to wait for all that others have written, on a slow card for longer than its watchdog has patience.
 */
const FLUSH_BYTES = 4 * 2 ** 20

/**
 * Unpacks a release into a folder, piece by piece, and makes sure that it is whole and on the disk.
 * @param {string} tarball
 * @param {string} hash  of its bytes
 * @param {string} folder  made anew
 * @throws {SluiceError} SLUICE_UPDATE_FILE; the folder has to be removed then
 */
export async function unpack (tarball, hash, folder) {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { mode: 0o755 })
  const digest = createHash('sha256')
  let unwrittenBytes = 0
  // The tarball may lie where others write: what was checked is unpacked.
  const passing = new Transform({
    transform (chunk, _encoding, done) {
      digest.update(chunk)
      unwrittenBytes += chunk.length
      if (unwrittenBytes < FLUSH_BYTES) return done(null, chunk)
      unwrittenBytes = 0
      flush(folder).then(() => done(null, chunk), done)
    }
  })
  /** @type {string|undefined} */
  let refused
  const unpacking = extract({
    cwd: folder,
    strip: 1,
    strict: true,
    preserveOwner: false,
    chmod: true,
    processUmask: 0,
    filter: (path, entry) => {
      const { type } = /** @type {import('tar').ReadEntry} */ (entry)
      const isInside = !path.startsWith('/') && !path.split('/').includes('..')
      if (!isInside || type !== 'File' && type !== 'Directory') refused ??= `${path} (${type})`
      entry.mode = type === 'Directory' || /** @type {number} */ (entry.mode) & 0o100 ? 0o755 : 0o644
      return refused === undefined
    }
  })
  await pipeline(createReadStream(tarball), passing, /** @type {any} */ (unpacking)).catch(cause => {
    throw isDiskFull(cause) ? namingDisk(cause, folder) : unusable(tarball, 'it cannot be unpacked', cause)
  })
  if (refused !== undefined) throw unusable(tarball, `it has more than files and folders of its own: ${refused}`)
  if (digest.digest('hex') !== hash) throw damaged(tarball)
  await checkSums(folder)
  await flush(folder)
}

/** Many files at once: thousands one by one would take a card minutes. @param {string} folder */
function flush (folder) { return promisify(execFile)('sync', ['--file-system', folder]) }

/**
 * Every file of a release is what SHA256SUMS says, and there is none besides.
 * @param {string} folder
 * @throws {SluiceError} SLUICE_UPDATE_FILE
 */
export async function checkSums (folder) {
  const lines = await readFile(join(folder, SUMS), 'utf8').catch(cause => { throw unusable(folder, `it has no ${SUMS}`, cause) })
  const sums = new Map(lines.trimEnd().split('\n').map(line => [line.slice(66), line.slice(0, 64)]))
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path)
    if (entry.isDirectory() || name === SUMS) continue
    const sum = sums.get(name)
    if (sum === undefined) throw unusable(folder, `${SUMS} does not know ${name}`)
    await checkHash(path, sum, chunk)
    sums.delete(name)
  }
  if (sums.size > 0) throw unusable(folder, `${[...sums.keys()][0]} is missing`)
}

/** @param {string} what @param {string} why @param {unknown} [cause] */
function unusable (what, why, cause) {
  return new SluiceError('SLUICE_UPDATE_FILE', `${what} is not a whole release: ${why}.`, { fix: 'Copy or download it again.', cause })
}
