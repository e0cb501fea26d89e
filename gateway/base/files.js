import { open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces a small file so that, whatever happens, either the old or the new content is there.
 * @param {string} path
 * @param {string} text
 */
export async function replaceFile (path, text) {
  const temporary = `${path}.new`
  const file = await open(temporary, 'w')
  try {
    await file.writeFile(text)
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  await syncFolder(path)
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
