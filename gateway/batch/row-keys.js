import { tagColumns } from './tags.js'

/** Nobody can choose texts whose hashes are equal. */
const [SEED_A, SEED_B] = [0, 1].map(() => Math.random() * 2 ** 32 | 0)

/**
 * A hash of 64 bits of each row's source, tags and time, as two numbers a row. The order of tags does not count, nor whether all rows of
 * the batch have one.
 * @param {Pick<import('./batch.js').Batch, 'source'|'tags'|'time'>} batch
 */
export function rowKeys ({ source, tags, time }) {
  const columns = tagColumns(tags)
  let a = textHash(source, SEED_A)
  let b = textHash(source, SEED_B)
  for (const [name, tag] of Object.entries(tags)) {
    if (typeof tag !== 'string') continue
    a = a + textHash(tag, textHash(name, SEED_A)) | 0
    b = b + textHash(tag, textHash(name, SEED_B)) | 0
  }
  const rows = time.length
  const keys = new Int32Array(2 * rows)
  for (let at = 0; at < keys.length; at += 2) {
    keys[at] = a
    keys[at + 1] = b
  }
  for (const [name, column] of columns) addTag(keys, name, column)
  const words = new Int32Array(time.buffer, time.byteOffset, 2 * rows)
  for (let at = 0; at < keys.length; at += 2) {
    keys[at] = mixed(mixed(keys[at] ^ words[at]) ^ words[at + 1])
    keys[at + 1] = mixed(mixed(keys[at + 1] ^ words[at + 1]) ^ words[at])
  }
  return keys
}

/** @param {Int32Array} keys @param {string} name @param {import('./tags.js').TagColumn} column */
function addTag (keys, name, { values, valid }) {
  const [seedA, seedB] = [textHash(name, SEED_A), textHash(name, SEED_B)]
  let last = null
  let [a, b] = [0, 0]
  for (let row = 0; row < values.length; row++) {
    if (valid && valid[row] === 0) continue
    const value = values[row]
    if (value !== last) {
      last = value
      a = textHash(value, seedA)
      b = textHash(value, seedB)
    }
    keys[2 * row] = keys[2 * row] + a | 0
    keys[2 * row + 1] = keys[2 * row + 1] + b | 0
  }
}

/** @param {string} text @param {number} seed */
function textHash (text, seed) {
  let hash = seed ^ text.length
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mixed(hash)
}

/** Spreads each bit over all of them. @param {number} bits */
function mixed (bits) {
  let hash = Math.imul(bits ^ bits >>> 16, 0x85ebca6b)
  hash = Math.imul(hash ^ hash >>> 13, 0xc2b2ae35)
  return hash ^ hash >>> 16
}
