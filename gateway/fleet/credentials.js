import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, parse } from 'node:path'
import { replaceFile } from '../base/files.js'
import { SluiceError } from '../base/errors.js'
import { credentialSecret } from '../run/settings.js'

/** @typedef {Record<string, Record<string, unknown>>} Credentials  by node, and by option */

const ALGORITHM = 'aes-256-ctr'
const IV_BYTES = 16
const KEY_NAME = '$'

/**
 * The passwords of a flow as Node-RED keeps them: encrypted under the hash of a secret, which the gateway keeps in a file of its own, and a
 * Node-RED that was told none among its settings.
 * @param {string} userDir
 * @param {string} flowFile
 * @returns {Credentials}
 * @throws {SluiceError} SLUICE_CREDENTIALS
 */
export function readCredentials (userDir, flowFile) {
  const path = credentialFile(userDir, flowFile)
  if (!existsSync(path)) return {}
  try {
    const kept = JSON.parse(readFileSync(path, 'utf8'))
    return typeof kept[KEY_NAME] === 'string' ? decrypted(kept[KEY_NAME], keyOf(secretOf(userDir))) : kept
  } catch (cause) {
    throw new SluiceError('SLUICE_CREDENTIALS', `The passwords in ${path} cannot be read.`, {
      fix: 'They belong to the secret of their data folder: run this as the user of the gateway, with its --user-dir.',
      cause
    })
  }
}

/** @param {string} userDir @param {string} flowFile @param {Credentials} credentials */
export async function writeCredentials (userDir, flowFile, credentials) {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, keyOf(secretOf(userDir) || credentialSecret(userDir)), iv)
  const text = iv.toString('hex') + cipher.update(JSON.stringify(credentials), 'utf8', 'base64') + cipher.final('base64')
  await replaceFile(credentialFile(userDir, flowFile), JSON.stringify({ [KEY_NAME]: text }, null, 4))
}

/** In the data folder, or beside a flow that is elsewhere. @param {string} userDir @param {string} flowFile */
function credentialFile (userDir, flowFile) {
  const { name, ext } = parse(flowFile)
  const file = `${name}_cred${ext}`
  const inUserDir = join(userDir, file)
  return existsSync(inUserDir) ? inUserDir : join(dirname(flowFile), file)
}

/** Empty where there is none yet. @param {string} userDir @returns {string} */
function secretOf (userDir) {
  const [own, settings] = ['credential-secret', '.config.runtime.json'].map(name => join(userDir, name))
  if (existsSync(own)) return readFileSync(own, 'utf8')
  return existsSync(settings) ? JSON.parse(readFileSync(settings, 'utf8'))._credentialSecret ?? '' : ''
}

/** @param {string} secret */
function keyOf (secret) {
  return createHash('sha256').update(secret).digest()
}

/** @param {string} text @param {Buffer} key @returns {Credentials} */
function decrypted (text, key) {
  const decipher = createDecipheriv(ALGORITHM, key, Buffer.from(text.slice(0, 2 * IV_BYTES), 'hex'))
  return JSON.parse(decipher.update(text.slice(2 * IV_BYTES), 'base64', 'utf8') + decipher.final('utf8'))
}
