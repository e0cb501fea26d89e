import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/**
 * The secret options of a flow's nodes, by the nodes' ids, as Node-RED keeps them beside the flow.
 * @typedef {Record<string, Record<string, string>>} Credentials
 */

const CIPHER = 'aes-256-ctr'
const VECTOR_BYTES = 16

/** @param {string} text  of the file; empty where there is none @param {string} secret @returns {Credentials} */
export function decrypt (text, secret) {
  const { $: sealed, ...open } = JSON.parse(text || '{}')
  if (sealed === undefined) return open
  const [vector, data] = [sealed.slice(0, 2 * VECTOR_BYTES), sealed.slice(2 * VECTOR_BYTES)]
  const decipher = createDecipheriv(CIPHER, keyOf(secret), Buffer.from(vector, 'hex'))
  return JSON.parse(decipher.update(data, 'base64', 'utf8') + decipher.final('utf8'))
}

/** @param {Credentials} credentials @param {string} secret */
export function encrypt (credentials, secret) {
  const vector = randomBytes(VECTOR_BYTES)
  const cipher = createCipheriv(CIPHER, keyOf(secret), vector)
  const data = Buffer.concat([cipher.update(JSON.stringify(credentials)), cipher.final()])
  return JSON.stringify({ $: vector.toString('hex') + data.toString('base64') })
}

/** @param {string} secret */
function keyOf (secret) {
  return createHash('sha256').update(secret).digest()
}
