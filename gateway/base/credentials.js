import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join, parse as parsePath } from 'node:path'
import { SluiceError } from './errors.js'
import { replaceFileSync } from './files.js'

/**
 * The passwords of a flow, which Node-RED keeps in a file beside it, encrypted under the hash of a secret.
 *
 * @typedef {Record<string, Record<string, any>>} Credentials  by node, and by option
 */

const ALGORITHM = 'aes-256-ctr'
const VECTOR_BYTES = 16
/** The name under which the file has what is encrypted: any other is that of a node. */
const ENCRYPTED = '$'

/**
 * @param {string} userDir
 * @param {string} flowFile
 * @returns {Credentials} none where there is no file yet
 * @throws {SluiceError} SLUICE_CREDENTIALS
 */
export function readCredentials (userDir, flowFile) {
  const path = credentialFile(userDir, flowFile)
  if (!existsSync(path)) return {}
  try {
    const { [ENCRYPTED]: encrypted, ...open } = JSON.parse(readFileSync(path, 'utf8'))
    return encrypted === undefined ? open : decrypt(encrypted, secretsIn(userDir))
  } catch (cause) {
    throw new SluiceError('SLUICE_CREDENTIALS', `The passwords in ${path} cannot be read.`, {
      fix: 'Run this as the user of the gateway, with its --user-dir. A credentialSecret in settings.js is read only where it is in the ' +
        'environment, too, as SLUICE_CREDENTIAL_SECRET.',
      cause
    })
  }
}

/** The text of that file. @param {Credentials} credentials @param {string} secret */
export function encryptCredentials (credentials, secret) {
  const vector = randomBytes(VECTOR_BYTES)
  const cipher = createCipheriv(ALGORITHM, keyOf(secret), vector)
  const text = cipher.update(JSON.stringify(credentials), 'utf8', 'base64') + cipher.final('base64')
  return JSON.stringify({ [ENCRYPTED]: vector.toString('hex') + text }, null, 4)
}

/** Where Node-RED looks for it: in the data folder, or beside a flow that is elsewhere. @param {string} userDir @param {string} flowFile */
export function credentialFile (userDir, flowFile) {
  const { dir, name, ext } = parsePath(flowFile)
  const inUserDir = join(userDir, `${name}_cred${ext}`)
  return existsSync(inUserDir) ? inUserDir : join(dir, `${name}_cred${ext}`)
}

/**
 * What they may be encrypted with: the gateway's own secret; what somebody says is in their settings.js, which is a program and is not run;
 * what a Node-RED that was told none has made up.
 * @param {string} userDir
 * @returns {string[]}
 */
export function secretsIn (userDir) {
  const { _credentialSecret: madeUp } = readIfPossible(join(userDir, '.config.runtime.json'), JSON.parse) ?? {}
  return [readIfPossible(ownSecretFile(userDir), String), process.env.SLUICE_CREDENTIAL_SECRET, madeUp].filter(Boolean)
}

/** The gateway's own, random and for this folder alone; it is made where it is missing. @param {string} userDir */
export function ownSecret (userDir) {
  const path = ownSecretFile(userDir)
  const kept = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (kept) return kept
  const secret = randomBytes(32).toString('hex')
  replaceFileSync(path, secret)
  return secret
}

/** @param {string} userDir */
function ownSecretFile (userDir) {
  return join(userDir, 'credential-secret')
}

/** @param {string} text @param {string[]} secrets @returns {Credentials} */
function decrypt (text, secrets) {
  const vector = Buffer.from(text.slice(0, 2 * VECTOR_BYTES), 'hex')
  for (const secret of secrets) {
    const decipher = createDecipheriv(ALGORITHM, keyOf(secret), vector)
    try {
      return JSON.parse(decipher.update(text.slice(2 * VECTOR_BYTES), 'base64', 'utf8') + decipher.final('utf8'))
    } catch {
      // It was not this one: what comes out is no JSON.
    }
  }
  throw new Error('none of the secrets that can be read here opens them')
}

/** @param {string} secret */
function keyOf (secret) {
  return hash('sha256', secret, 'buffer')
}

/** @param {string} path @param {(text: string) => any} parse @returns {any} */
function readIfPossible (path, parse) {
  try {
    return parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // another secret may be the one
  }
}
