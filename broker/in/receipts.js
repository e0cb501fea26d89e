import { open, readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { PRIVATE_FILE, replaceFile } from '../../gateway/base/files.js'
import { hashOf } from '../../gateway/batch/hashes.js'
import { ROOT } from '../topics.js'
import { NEVER, notedIn, pack, Records } from './receipt-records.js'

/**
 * @typedef {import('./contract.js').Packet & {messageId?: number, dup?: boolean}} Packet
 * @typedef {import('./receipt-records.js').Part} Part
 * @typedef {import('./deferred-acks.js').Acknowledged} Acknowledged
 *
 * @typedef {object} Topic
 * @property {string} name
 * @property {number} hash  of the name
 * @property {number} last  hash of the content that came last
 * @property {number} pending  messages on their way into the spool
 * @property {boolean} isOld  the last came to an earlier process
 * @property {boolean} isUsed
 * @property {Has} has
 *
 * @typedef {Set<number>|null} Has  which batches of a message are in the spool; null: all, once none of it is pending
 *
 * @typedef {object} Receipt
 * @property {() => boolean} isPending  it is on its way into the spool
 * @property {boolean} isOld  it came to an earlier process
 * @property {Has} has
 */

/** States of a message. */
const [KEPT, PENDING, OLD] = [0, 1, 2]
const MAX_TOPICS = 10_000
const IDS = 2 ** 16
/**
 * Brokers give packet ids in a circle of 65,535, so what comes again has an id of not long ago. After so many later messages it may be
 * another message, which went out before a kill and did not come: a door is often open twice. What comes again comes in order, so once one
 * of that age is another message, so are those behind it.
 */
const MAX_AGE = 2 ** 15
/** The file is written anew when so much has been added. */
const MAX_ADDED_BYTES = 2 ** 23

/** That has come. Thousands wait at a time, so it holds nothing of what came with it. */
export class Message {
  /** Of its batches, those that are not in the spool yet. */
  left = 0
  part = 0

  /**
   * @param {number} id  of the packet; 0 where the broker does not send it again
   * @param {Topic} topic
   * @param {number} hash  of its content
   * @param {number} parts  batches that are in it
   * @param {number} session
   * @param {Acknowledged} held
   */
  constructor (id, topic, hash, parts, session, held) {
    this.id = id
    this.topic = topic
    this.hash = hash
    this.parts = parts
    this.session = session
    this.held = held
  }

  /** One of a single batch stands for that, too. */
  get message () { return this }
}

/**
 * What has become of third-party messages, in a file beside their spool, so that one that comes again is not stored again: redelivered in
 * the same session, under the same packet id; or retained, and sent at each new subscription.
 *
 * Before rows of messages go into the spool, together, it is written down whose they are and how many rows of their source the spool has
 * accepted before: after a kill, the rows that it has accepted by then tell which have arrived there.
 */
export class Receipts {
  /** By packet id: hashes of topic and content, and what is known of it. */
  #topicOf = new Float64Array(IDS)
  #hashOf = new Float64Array(IDS)
  #states = new Uint8Array(IDS)
  /** How many messages with ids had come by then. */
  #notedAt = new Float64Array(IDS).fill(-Infinity)
  #noted = 0
  /** What comes again had not come. */
  #isBeyond = false
  /** Of messages of which an earlier process has stored a part. @type {Map<number, Set<number>>} by packet id */
  #hasOfId = new Map()
  /** @type {Map<string, Topic>} */
  #topics = new Map()
  /** Of a clock: where it looked last for one that is not used. */
  #hand = this.#topics.entries()
  /** Of an earlier process, by the hash of its name. @type {Map<number, Topic>} */
  #oldTopics = new Map()
  #session = 0
  #added = 0
  /** @type {Promise<unknown>} */
  #written = Promise.resolve()
  #path
  #rows
  /** @type {import('node:fs/promises').FileHandle} */
  #file = /** @type {any} */ (null)

  /** @param {string} path @param {Map<string, number>} rows  that the spool has accepted of each source, each row counted once */
  constructor (path, rows) {
    this.#path = path
    this.#rows = new Map(rows)
  }

  /** @param {string} path @param {Map<string, number>} rows */
  static async open (path, rows) {
    const receipts = new Receipts(path, rows)
    await receipts.#load()
    return receipts
  }

  /**
   * What is known of a message that may have come before.
   * @param {Packet} packet
   * @returns {Receipt|undefined}
   */
  of (packet) {
    if (!packet.dup) this.#isBeyond = false
    if (!packet.dup && !packet.retain) return undefined
    const topic = this.#topicAt(packet.topic)
    const hash = contentHash(packet.payload)
    const id = idOf(packet)
    const isAlike = packet.dup && id > 0 && this.#topicOf[id] === topic.hash && this.#hashOf[id] === hash
    if (isAlike && this.#mayBeRepeated(id)) {
      return { isPending: () => this.#states[id] === PENDING, isOld: this.#states[id] === OLD, has: this.#hasOfId.get(id) ?? null }
    }
    if (packet.dup && !isAlike && this.#ageOf(id) > MAX_AGE) this.#isBeyond = true
    if (!packet.retain || topic.last !== hash) return undefined
    return { isPending: () => topic.pending > 0, isOld: topic.isOld, has: topic.has }
  }

  /**
   * A message has come, which is to be kept.
   * @param {Packet} packet
   * @param {number} parts  batches that are in it
   * @param {Acknowledged} held
   */
  note (packet, parts, held) {
    const topic = this.#topicAt(packet.topic)
    const hash = contentHash(packet.payload)
    const id = idOf(packet)
    topic.last = hash
    topic.has = null
    topic.isOld = false
    topic.pending++
    if (id > 0) {
      this.#topicOf[id] = topic.hash
      this.#hashOf[id] = hash
      this.#states[id] = PENDING
      this.#notedAt[id] = this.#noted++
      if (this.#hasOfId.size > 0) this.#hasOfId.delete(id)
    }
    return new Message(id, topic, hash, parts, this.#session, held)
  }

  /** All of a message is in the spool, or kept elsewhere. @param {Message} message */
  kept ({ id, topic, session }) {
    topic.pending--
    if (session === this.#session) this.#states[id] = KEPT
  }

  /**
   * Rows of messages are about to go into the spool, in this order, and no others before them.
   * @param {{source: string, parts: Part[]}[]} groups
   */
  write (groups) {
    const rows = new Map(this.#rows)
    return this.#say(groups.map(({ source, parts }) => {
      const before = rows.get(source) ?? 0
      rows.set(source, parts.reduce((sum, part) => sum + part.rows, before))
      return JSON.stringify([source, before, this.#packed(parts)])
    }))
  }

  /**
   * What has become of those that were written last.
   * @param {{source: string, parts: Part[], isIn: boolean}[]} groups
   */
  async arrived (groups) {
    for (const { source, parts, isIn } of groups) {
      if (isIn) this.#rows.set(source, parts.reduce((sum, part) => sum + part.rows, this.#rows.get(source) ?? 0))
    }
    if (groups.every(({ isIn }) => isIn)) return
    // Now others may get in before those that did not, and some that did are not where they were expected.
    await this.#say(groups.map(({ parts, isIn }) => {
      return JSON.stringify(['', 0, this.#packed(parts.map(part => ({ ...part, rows: isIn ? 0 : NEVER })))])
    }))
  }

  /** The broker has begun a new session: packet ids mean other messages from now on. */
  newSession () {
    this.#session++
    this.#topicOf.fill(0)
    this.#states.fill(KEPT)
    this.#hasOfId.clear()
    return this.#say(['[]'])
  }

  async close () {
    await this.#written
    await this.#file.close()
  }

  /** Whether the broker may still await the acknowledgement of what had this id. @param {number} id */
  #mayBeRepeated (id) { return this.#states[id] === PENDING || this.#ageOf(id) <= (this.#isBeyond ? MAX_AGE : IDS) }

  /** @param {number} id */
  #ageOf (id) { return this.#noted - this.#notedAt[id] }

  /** @param {Part[]} parts */
  #packed (parts) {
    return pack(parts, this.#session)
  }

  /** @param {string[]} lines */
  #say (lines) {
    const text = `${lines.join('\n')}\n`
    const writing = this.#written.then(async () => {
      if (this.#added > MAX_ADDED_BYTES) await this.#compact()
      this.#added += text.length
      await this.#file.appendFile(text)
    })
    this.#written = writing.catch(() => {})
    return writing
  }

  /** @param {string} name @returns {Topic} */
  #topicAt (name) {
    let topic = this.#topics.get(name)
    if (!topic) {
      const hash = hashOf(Buffer.from(name))
      topic = { ...this.#oldTopics.get(hash) ?? newTopic(hash), name }
      this.#oldTopics.delete(hash)
      this.#topics.set(name, topic)
      this.#forgetSome()
    }
    topic.isUsed = true
    return topic
  }

  /** Those of an earlier process first, then those that have not been used since this last looked at them. */
  #forgetSome () {
    while (this.#topics.size + this.#oldTopics.size > MAX_TOPICS) {
      const [old] = this.#oldTopics.keys()
      if (this.#oldTopics.delete(old)) continue
      const { value, done } = this.#hand.next()
      if (done) this.#hand = this.#topics.entries()
      else if (value[1].isUsed) value[1].isUsed = false
      else this.#topics.delete(value[0])
    }
  }

  async #load () {
    const text = await readFile(this.#path, 'utf8').catch(() => '')
    const { ids, topics } = notedIn(text, this.#rows)
    for (const noted of ids.values()) { // oldest first
      const at = this.#noted++
      if (noted.has.length === 0) continue
      this.#notedAt[noted.id] = at
      this.#topicOf[noted.id] = noted.topic
      this.#hashOf[noted.id] = noted.hash
      this.#states[noted.id] = OLD
      const has = hasOf(noted)
      if (has) this.#hasOfId.set(noted.id, has)
    }
    for (const noted of topics.values()) {
      if (noted.has.length === 0) continue
      this.#oldTopics.set(noted.topic, { ...newTopic(noted.topic), last: noted.hash, isOld: true, has: hasOf(noted) })
    }
    this.#forgetSome()
    await this.#compact()
  }

  /** In the order in which they came; some are 0. */
  #recentIds () {
    const ids = new Uint16Array(IDS)
    const from = this.#noted - IDS
    for (let id = 1; id < IDS; id++) if (this.#notedAt[id] >= from) ids[this.#notedAt[id] - from] = id
    return ids
  }

  /** Only what is still known; a torn line at the end goes, too. */
  async #compact () {
    const topics = [...this.#oldTopics.values(), ...this.#topics.values()]
    const parts = (/** @type {Has} */ has) => has?.size ?? 1
    const more = [...topics.map(({ has }) => has), ...this.#hasOfId.values()].reduce((sum, has) => sum + parts(has), 0)
    const records = new Records(IDS + more)
    for (const id of this.#recentIds()) {
      if (this.#topicOf[id] === 0 || this.#states[id] === PENDING) continue
      records.addKnown(id, this.#topicOf[id], this.#hashOf[id], this.#hasOfId.get(id) ?? null)
    }
    for (const { hash: topic, last, pending, has } of topics) { // after those with ids
      if (last > 0 && pending === 0) records.addKnown(0, topic, last, has)
    }
    await replaceFile(this.#path, `${JSON.stringify(['', 0, records.text])}\n`)
    await this.#file?.close()
    this.#file = await open(this.#path, 'a', PRIVATE_FILE)
    this.#added = 0
  }
}

/** @param {number} hash @returns {Topic} */
function newTopic (hash) {
  return { name: '', hash, last: 0, pending: 0, isOld: false, isUsed: false, has: null }
}

/** @param {import('./receipt-records.js').Noted} noted @returns {Has} */
function hasOf ({ has, parts }) {
  return has.length < parts ? new Set(has) : null
}

/**
 * What is on our own topics comes over another connection, with packet ids of its own.
 * @param {Packet} packet
 */
function idOf ({ qos, messageId = 0, topic }) {
  return qos === 1 && !topic.startsWith(`${ROOT}/`) ? messageId : 0
}

/** Checksum and length, in 48 bits, and never 0: what it is compared with has the same packet id or topic. @param {Uint8Array} bytes */
function contentHash (bytes) {
  return (bytes.length % 65_535 + 1) * 2 ** 32 + crc32(bytes)
}
