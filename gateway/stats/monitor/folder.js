import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Of `st_blocks`, whatever those of the file system are. */
const BLOCK_BYTES = 512
/** Looked at together. */
const AT_ONCE = 32

/**
 * What all in a folder takes. Files may come and go meanwhile; links are not followed, and a file with two names counts once.
 * @param {string} path
 * @returns {Promise<import('./usage.js').FolderUsage|undefined>} undefined when it cannot be read, or something in it
 */
export async function folderUsage (path) {
  const usage = { sizeBytes: 0, diskBytes: 0, files: 0 }
  const linked = new Set()
  const folders = [path]
  try {
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const entries = await namesIn(folder, folder === path)
      for (let i = 0; i < entries.length; i += AT_ONCE) {
        const found = await Promise.all(entries.slice(i, i + AT_ONCE).map(async name => ({ name, stat: await statOf(join(folder, name)) })))
        for (const { name, stat } of found) {
          if (!stat) continue
          if (stat.isDirectory()) folders.push(join(folder, name))
          if (stat.nlink > 1 && !stat.isDirectory()) {
            const identity = `${stat.dev}/${stat.ino}`
            if (linked.has(identity)) continue
            linked.add(identity)
          }
          usage.diskBytes += stat.blocks * BLOCK_BYTES
          if (!stat.isFile()) continue
          usage.sizeBytes += stat.size
          usage.files++
        }
      }
    }
    return usage
  } catch {
    return undefined
  }
}

/** @param {string} folder @param {boolean} isRoot  that has to be there */
async function namesIn (folder, isRoot) {
  try {
    return await readdir(folder)
  } catch (error) {
    if (!isRoot && isGone(error)) return []
    throw error
  }
}

/** @param {string} path */
async function statOf (path) {
  try {
    return await lstat(path)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** @param {unknown} error */
function isGone (error) {
  return ['ENOENT', 'ENOTDIR'].includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')
}
