import { createDecipheriv, createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, parse } from 'node:path'

/**
 * The passwords of a flow, by node, as Node-RED keeps them beside it: AES-256-CTR, under the hash of a secret. The gateway keeps that in
 * the file credential-secret, a Node-RED that was left to itself among its own settings; the one in a settings.js is not read, as that is
 * a program.
 * @param {string} userDir
 * @param {string} flowFile
 * @returns {Promise<Record<string, Record<string, any>>|null>} null where they cannot be read
 */
export async function readCredentials (userDir, flowFile) {
  const { dir, name, ext } = parse(flowFile)
  const text = await textOf(join(dir, `${name}_cred${ext}`)) ?? await textOf(join(userDir, `${name}_cred${ext}`))
  if (text === null) return {}
  const kept = JSON.parse(text)
  if (typeof kept.$ !== 'string') return kept // a Node-RED that was told not to encrypt
  for (const secret of await secretsIn(userDir)) {
    try {
      return decrypted(kept.$, secret)
    } catch {
      // It was not this one: what comes out is no JSON.
    }
  }
  return null
}

/** @param {string} text  16 bytes in hexadecimal, then base64 @param {string} secret */
function decrypted (text, secret) {
  const key = createHash('sha256').update(secret).digest()
  const decipher = createDecipheriv('aes-256-ctr', key, Buffer.from(text.slice(0, 32), 'hex'))
  return JSON.parse(decipher.update(text.slice(32), 'base64', 'utf8') + decipher.final('utf8'))
}

/** What they may be encrypted with. @param {string} userDir @returns {Promise<string[]>} */
export async function secretsIn (userDir) {
  const own = await textOf(join(userDir, 'credential-secret'))
  const settings = await textOf(join(userDir, '.config.runtime.json'))
  return [own, settings && JSON.parse(settings)._credentialSecret].filter(secret => typeof secret === 'string')
}

/** @param {string} path */
async function textOf (path) {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'EACCES'].includes(String(/** @type {NodeJS.ErrnoException} */ (error).code))) return null
    throw error
  }
}
