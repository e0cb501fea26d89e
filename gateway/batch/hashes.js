import { hash } from 'node:crypto'

/** Hashes of staged bytes: whole numbers of 48 bits, which are exact in every database, in JSON and in sums of two. */
const MODULUS = 2 ** 48

/** The first 48 bits of the SHA-256 of a staged batch. @param {Uint8Array} bytes */
export function hashOf (bytes) {
  return parseInt(hash('sha256', bytes).slice(0, 12), 16) // as text: a buffer for it takes longer than the hash of a kilobyte
}

/** @param {number} a @param {number} b */
export function addHashes (a, b) {
  return (a + b) % MODULUS
}

/** @param {number} a @param {number} b */
export function subtractHashes (a, b) {
  return (a - b + MODULUS) % MODULUS
}
