import { randomUUID } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * Modes of what is for its owner alone: all that Sluice keeps for itself. What it writes for others, as the files of a file sink, has
 * those of the process.
 */
export const PRIVATE_FILE = 0o600
export const PRIVATE_FOLDER = 0o700

const TEMPORARY = /\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.new$/
/** No process takes so long to write one, and no clock is set back or forth by so much while it does. */
const LEFT_MS = 3_600_000
/** Folders where this process has looked for what others left. */
const tidied = new Set()

/**
 * Replaces a small file, which no other user may read unless its mode says so, so that, whatever happens, either the old or the new
 * content is there. Several processes may do so at once; what one that was killed had begun is removed when the next begins with that
 * folder.
 * @param {string} path
 * @param {string|Uint8Array} text
 * @param {number} [mode]
 */
export async function replaceFile (path, text, mode = PRIVATE_FILE) {
  const temporary = `${path}.${randomUUID()}.new`
  try {
    const file = await open(temporary, 'wx', mode)
    try {
      await file.writeFile(text)
      await file.datasync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}) // the first error says more
    throw error
  }
  await syncFolder(path)
  await tidy(dirname(path))
}

/**
 * Likewise where nobody may wait, for the one process that writes it.
 * @param {string} path
 * @param {string} text
 */
export function replaceFileSync (path, text) {
  const temporary = `${path}.new`
  rmSync(temporary, { force: true })
  writeFileSync(temporary, text, { mode: PRIVATE_FILE, flag: 'wx', flush: true })
  renameSync(temporary, path)
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** @param {string} folder */
async function tidy (folder) {
  if (tidied.has(folder)) return
  tidied.add(folder)
  for (const name of await readdir(folder).catch(() => [])) {
    if (!TEMPORARY.test(name)) continue
    const left = join(folder, name)
    const ageMs = await stat(left).then(({ mtimeMs }) => Math.abs(Date.now() - mtimeMs), () => 0)
    if (ageMs > LEFT_MS) await rm(left, { force: true }).catch(() => {}) // it is in nobody's way
  }
}

/**
 * Creates a folder, and those above it, durably.
 * @param {string} path  absolute
 * @param {number} [mode]  of those that it creates
 */
export async function makeFolder (path, mode) {
  const firstMade = await mkdir(path, { recursive: true, mode })
  for (let made = path; firstMade !== undefined; made = dirname(made)) {
    await syncFolder(made)
    if (made === firstMade) return
  }
}

/** Likewise, for its owner alone where it is new. @param {string} path */
export function makePrivateFolder (path) {
  return makeFolder(resolve(path), PRIVATE_FOLDER)
}

/** Of a file that another program wrote, if it is there. @param {string} path */
export function makePrivate (path) {
  try {
    chmodSync(path, PRIVATE_FILE)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
  }
}

/** A rename or a new file is durable only once its folder is. @param {string} path  of the file */
export async function syncFolder (path) {
  const folder = await open(dirname(path), 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * Writes all of it: a single write may stop early, as on a disk that is nearly full.
 * @param {import('node:fs/promises').FileHandle} file
 * @param {Uint8Array} data
 * @param {number} position  in bytes from the file's start
 */
export async function writeAll (file, data, position) {
  for (let written = 0; written < data.length;) {
    const { bytesWritten } = await file.write(data, written, data.length - written, position + written)
    written += bytesWritten
  }
}

/**
 * The one name of a file that need not exist yet, whatever links lead to it. Its folder is created, for its owner only.
 * @param {string} path  absolute
 * @returns {Promise<string>}
 */
export async function realName (path) {
  try {
    return await realpath(path)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error
    const target = await readlink(path).catch(() => null)
    if (target !== null) return realName(resolve(dirname(path), target))
    await makePrivateFolder(dirname(path))
    return join(await realpath(dirname(path)), basename(path))
  }
}
