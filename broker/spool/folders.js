import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The folders of a gateway's spools, seen from outside: none is opened, as only one process may.
 *
 * @typedef {{name: string, bytes: number, writtenMs: number}} SpoolFile  `writtenMs`: when it was last written to, since 1970
 * @typedef {{spool: string, bytes: number, files: SpoolFile[]}} SpoolFolder  its files by name, so that segments are oldest first
 */

/** What the names of segments end in. */
export const SEGMENT = '.segment'

/** @param {string} userDir @returns {Promise<SpoolFolder[]>} */
export async function spoolsIn (userDir) {
  const root = join(userDir, 'sluice', 'spool')
  const spools = await Promise.all((await namesIn(root)).sort().map(async spool => {
    const folder = join(root, spool)
    if (!(await stat(folder)).isDirectory()) return null
    const files = (await Promise.all((await namesIn(folder)).sort().map(name => fileAt(folder, name)))).flat()
    return { spool, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files }
  }))
  return spools.filter(spool => spool !== null)
}

/** A running gateway removes what is stored. @param {string} folder @param {string} name @returns {Promise<SpoolFile[]>} */
async function fileAt (folder, name) {
  try {
    const { size, mtimeMs } = await stat(join(folder, name))
    return [{ name, bytes: size, writtenMs: mtimeMs }]
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

/** @param {string} folder */
async function namesIn (folder) {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isGone(error)) return []
    throw error
  }
}

/** @param {unknown} error */
function isGone (error) {
  return ['ENOENT', 'ENOTDIR'].includes(String(/** @type {NodeJS.ErrnoException} */ (error).code))
}
