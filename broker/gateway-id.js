import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makePrivateFolder, replaceFile } from '../gateway/base/files.js'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** @type {Map<string, Promise<string>>} data folder → id, found or being made */
const known = new Map()

/**
 * The name of this gateway: made at the first start, so that two machines from one image differ, and kept in its data folder.
 * @param {string} dataDir
 * @returns {Promise<string>} as in `gw-k3v7qa2m`
 */
export function gatewayId (dataDir) {
  let id = known.get(dataDir)
  if (!id) {
    id = findOrMake(dataDir)
    known.set(dataDir, id)
    id.catch(() => known.delete(dataDir))
  }
  return id
}

/** @param {string} dataDir */
async function findOrMake (dataDir) {
  const path = join(dataDir, 'gateway-id')
  const kept = await readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (kept.trim()) return kept.trim()
  const id = `gw-${Array.from(randomBytes(8), byte => ALPHABET[byte % 32]).join('')}`
  await makePrivateFolder(dataDir)
  await replaceFile(path, `${id}\n`)
  return id
}
