import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Makes a pair of keys. @param {string} folder @returns {{secret: string, open: string}} the paths */
export function makeKeys (folder) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const secret = join(folder, 'sluice-release.key')
  const open = join(folder, 'sluice-release.pub')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(secret, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' })
  writeFileSync(open, publicKey.export({ type: 'spki', format: 'pem' }), { flag: 'wx' })
  return { secret, open }
}

/** The public key that belongs to a secret one, as PEM. @param {string} keyFile */
export function publicKeyOf (keyFile) {
  return createPublicKey(readKey(keyFile)).export({ type: 'spki', format: 'pem' }).toString()
}

/** Signs a file, into one beside it: the signature of its bytes in base64. @param {string} path @param {string} keyFile */
export function writeSignature (path, keyFile) {
  writeFileSync(`${path}.sig`, `${sign(null, readFileSync(path), readKey(keyFile)).toString('base64')}\n`)
}

/** @param {string} file */
function readKey (file) {
  const key = createPrivateKey(readFileSync(file))
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${file} is a key of the type ${key.asymmetricKeyType}, not Ed25519.`)
  return key
}
