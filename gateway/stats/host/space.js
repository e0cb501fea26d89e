import { statfs } from 'node:fs/promises'

/**
 * What is left of the file system of a folder. Some have no fixed number of inodes, and no files are refused for it.
 *
 * @typedef {{freeBytes: number, totalBytes: number, freeInodes?: number, totalInodes?: number}} Space  `freeBytes`: for other users than
 *   root
 */

/** @param {string} folder @returns {Promise<Space>} */
export async function spaceOf (folder) {
  const { bavail, blocks, bsize, ffree, files } = await statfs(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize, ...files > 0 && { freeInodes: ffree, totalInodes: files } }
}
