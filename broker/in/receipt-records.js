/**
 * What the lines of the file of receipts say.
 *
 * @typedef {import('./receipts.js').Has} Has
 * @typedef {{message: import('./receipts.js').Message, part: number, rows: number}} Part  a batch of a message
 *
 * @typedef {object} Noted  what the file says of a message
 * @property {number} id
 * @property {number} topic
 * @property {number} hash
 * @property {number} parts  batches that are in it
 * @property {number[]} seen  those that it tells of
 * @property {number[]} has  those that are in the spool
 */

const RECORD_BYTES = 26
/** Rows of a part that is not known to be in the spool, whatever else comes. */
export const NEVER = 2 ** 32 - 1
const HASH_BYTES = 6

/** Records, one behind the other. */
export class Records {
  #bytes
  #at = 0

  /** @param {number} count  at most */
  constructor (count) {
    this.#bytes = Buffer.allocUnsafe(count * RECORD_BYTES)
  }

  /** @param {number} id @param {number} topic @param {number} hash @param {number} part @param {number} parts @param {number} rows */
  add (id, topic, hash, part, parts, rows) {
    const bytes = this.#bytes
    let at = bytes.writeUInt16LE(id, this.#at)
    at = bytes.writeUIntLE(topic, at, HASH_BYTES)
    at = bytes.writeUIntLE(hash, at, HASH_BYTES)
    at = bytes.writeUInt32LE(part, at)
    at = bytes.writeUInt32LE(parts, at)
    this.#at = bytes.writeUInt32LE(rows, at)
  }

  /**
   * Of a message that is in the spool, or a part of it.
   * @param {number} id @param {number} topic @param {number} hash @param {Has} has
   */
  addKnown (id, topic, hash, has) {
    if (has) for (const part of has) this.add(id, topic, hash, part, NEVER, 0)
    else this.add(id, topic, hash, 0, 1, 0)
  }

  get text () { return this.#bytes.toString('base64', 0, this.#at) }
}

/** @param {Part[]} parts @param {number} session  the present one: ids of others mean nothing any more */
export function pack (parts, session) {
  const records = new Records(parts.length)
  for (const { message, part, rows } of parts) {
    records.add(message.session === session ? message.id : 0, message.topic.hash, message.hash, part, message.parts, rows)
  }
  return records.text
}

/**
 * The messages that a file tells of: the last of each packet id, and of each topic.
 * @param {string} text
 * @param {Map<string, number>} accepted  rows, by source
 */
export function notedIn (text, accepted) {
  /** @type {Map<number, Noted>} oldest first */
  const ids = new Map()
  /** @type {Map<number, Noted>} oldest first */
  const topics = new Map()
  for (const line of text.split('\n').map(parse)) {
    if (line?.length === 0) ids.clear()
    if (line?.length !== 3) continue
    const [source, before, packed] = line
    const bytes = Buffer.from(packed, 'base64')
    let upTo = before
    for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
      const id = bytes.readUInt16LE(at)
      const topic = bytes.readUIntLE(at + 2, HASH_BYTES)
      const hash = bytes.readUIntLE(at + 8, HASH_BYTES)
      const part = bytes.readUInt32LE(at + 14)
      const parts = bytes.readUInt32LE(at + 18)
      upTo += bytes.readUInt32LE(at + 22)
      const old = (id > 0 ? ids.get(id) : undefined) ?? topics.get(topic)
      const isSame = old?.id === id && old.topic === topic && old.hash === hash && !old.seen.includes(part)
      const noted = isSame ? old : { id, topic, hash, parts, seen: [], has: [] }
      noted.seen.push(part)
      if (upTo <= (accepted.get(source) ?? 0)) noted.has.push(part)
      if (id > 0) {
        ids.delete(id) // a Map keeps the place of what it has
        ids.set(id, noted)
      }
      topics.delete(topic)
      topics.set(topic, noted)
    }
  }
  return { ids, topics }
}

/** @param {string} text @returns {[]|[source: string, before: number, packed: string]|null} */
function parse (text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
