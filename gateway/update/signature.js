import { createHash, createPublicKey, verify } from 'node:crypto'
import { open, readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { SluiceError } from '../base/errors.js'

export const CHUNK_BYTES = 2 ** 18
/** A line of sha256sum. */
const SUM = /^([0-9a-f]{64}) [ *]([^\n]+)\n?$/

/**
 * The hash that a release's tarball must have, as somebody has signed whose key is known. What is signed names the file too, and the file
 * its version and architecture.
 * @param {string} tarball
 * @param {string[]} keyFiles  PEM, Ed25519
 * @returns {Promise<string>} hexadecimal
 * @throws {SluiceError} SLUICE_UPDATE_SIGNATURE
 */
export async function signedHash (tarball, keyFiles) {
  if (keyFiles.length === 0) throw unsigned('There is no key by which a release could be checked.', 'Name one with --key.')
  const [sums, signature] = await Promise.all([`${tarball}.sha256`, `${tarball}.sha256.sig`].map(needed))
  const keys = await Promise.all(keyFiles.map(keyIn))
  const bytes = Buffer.from(signature.toString(), 'base64')
  if (!keys.some(key => verify(null, sums, key, bytes))) {
    throw unsigned(`The signature of ${tarball} is not by ${keyFiles.join(' or ')}.`, 'Do not use this file unless you know who made it.')
  }
  const [, hash, name] = SUM.exec(sums.toString()) ?? []
  if (name === basename(tarball)) return hash
  throw unsigned(`What is signed beside ${tarball} is the file ${name ?? '(none)'}.`, 'Keep the names of the three files.')
}

/**
 * Checks the bytes.
 * @param {string} tarball
 * @param {string} hash
 * @param {Buffer} [chunk]  to read them into: for thousands of files it is the same, on a machine with little memory
 * @throws {SluiceError} SLUICE_UPDATE_FILE
 */
export async function checkHash (tarball, hash, chunk = Buffer.allocUnsafe(CHUNK_BYTES)) {
  const digest = createHash('sha256')
  const file = await open(tarball)
  try {
    while (true) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length)
      if (bytesRead === 0) break
      digest.update(chunk.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
  if (digest.digest('hex') !== hash) throw damaged(tarball)
}

/** @param {string} tarball */
export function damaged (tarball) {
  return new SluiceError('SLUICE_UPDATE_FILE', `${tarball} is not what was signed: it is damaged, or not all of it is there.`, {
    fix: 'Copy or download it again.'
  })
}

/** The public keys in folders, those that are there. @param {string[]} folders */
export async function keysIn (folders) {
  const names = await Promise.all(folders.map(async folder => {
    const files = await readdir(folder).catch(() => [])
    return files.filter(file => file.endsWith('.pub')).sort().map(file => join(folder, file))
  }))
  return names.flat()
}

/** @param {string} file */
async function needed (file) {
  return readFile(file).catch(cause => {
    throw unsigned(`${file} cannot be read.`, 'A release is three files: copy those that end in .sha256 and .sha256.sig beside it.', cause)
  })
}

/** @param {string} file */
async function keyIn (file) {
  try {
    const key = createPublicKey(await readFile(file))
    if (key.asymmetricKeyType === 'ed25519') return key
    throw new Error(`it is a key of ${key.asymmetricKeyType}`)
  } catch (cause) {
    throw unsigned(`${file} has no public key of Ed25519.`, 'It begins with -----BEGIN PUBLIC KEY-----.', cause)
  }
}

/** @param {string} message @param {string} fix @param {unknown} [cause] */
function unsigned (message, fix, cause) {
  return new SluiceError('SLUICE_UPDATE_SIGNATURE', message, { fix, cause })
}
