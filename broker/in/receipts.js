import { open, readFile } from 'node:fs/promises'
import { replaceFile } from '../../gateway/base/files.js'
import { hashOf } from '../../gateway/batch/hashes.js'
import { ROOT } from '../topics.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('./contract.js').Packet & {messageId?: number, dup?: boolean}} Packet
 * @typedef {[source: string, upTo: number]} Part  once the spool has accepted so many rows of the source, it has this batch of the message
 * @typedef {[id: number, topic: number, hash: number, ...parts: Part[]]} Line  `id`: of the packet, 0 where the broker does not send it
 *   again; topic and content by their hashes
 *
 * @typedef {object} Receipt
 * @property {Line} line
 * @property {Promise<unknown>|null} kept  by this process; null: by an earlier one
 * @property {number[]} lacking  which of its batches an earlier process has not brought into the spool
 * @property {number} [order]  in which they were written
 */

const MAX_RECEIPTS = 10_000
/** Of a batch that is not known to be in the spool, whatever else comes. */
const NEVER = Number.MAX_SAFE_INTEGER

/**
 * What has become of third-party messages, in a file beside their spool, so that one that comes again is not stored again: redelivered in
 * the same session, under the same packet id; or retained, and sent at each new subscription.
 *
 * A line is written before its message goes into the spool. Messages go in in the order of their lines, so after a kill the rows that the
 * spool has accepted tell which have arrived there.
 */
export class Receipts {
  /** @type {Map<number, Receipt>} by packet id */
  #byId = new Map()
  /** The last of each topic. @type {Map<number, Receipt>} oldest first */
  #byTopic = new Map()
  /** @type {string[]} lines to be written */
  #pending = []
  /** @type {Promise<void>|null} */
  #writing = null
  #lines = 0
  #order = 0
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
    const [id, topic, hash] = lineOf(packet)
    const candidates = [packet.dup && this.#byId.get(id), packet.retain && this.#byTopic.get(topic)]
    return candidates.find(receipt => receipt && receipt.line[1] === topic && receipt.line[2] === hash) || undefined
  }

  /**
   * A message is about to be kept: its batches go into the spool once this has resolved, and no others before them that were written later.
   * @param {Packet} packet
   * @param {Batch[]} batches  all that are in it
   * @param {number[]} lacking  which of them are to be kept
   * @param {Promise<unknown>} kept
   */
  async write (packet, batches, lacking, kept) {
    const parts = batches.map(({ source, rows }, i) => {
      if (!lacking.includes(i)) return /** @type {Part} */ ([source, 0])
      const upTo = (this.#rows.get(source) ?? 0) + rows
      this.#rows.set(source, upTo)
      return /** @type {Part} */ ([source, upTo])
    })
    const line = /** @type {Line} */ ([...lineOf(packet), ...parts])
    this.#add({ line, kept, lacking: [] })
    await this.#say(line)
  }

  /** The spool has not taken all of a message, and others may get in before it. @param {Packet} packet */
  async doubt (packet) {
    const [id, topic, hash] = lineOf(packet)
    const receipt = this.#byTopic.get(topic)
    if (receipt?.line[0] !== id || receipt.line[2] !== hash) return
    for (const part of partsOf(receipt.line)) part[1] = NEVER
    await this.#say(receipt.line)
  }

  /** The broker has begun a new session: packet ids mean other messages from now on. */
  newSession () {
    this.#byId.clear()
    return this.#say([])
  }

  async close () {
    while (this.#writing) await this.#writing
    await this.#file.close()
  }

  /** Those that wait together are written together. @param {Line|[]} line */
  async #say (line) {
    this.#pending.push(JSON.stringify(line))
    while (this.#writing) await this.#writing
    if (this.#pending.length > 0) await (this.#writing = this.#flush().finally(() => { this.#writing = null }))
  }

  /** @param {Receipt} receipt */
  #add (receipt) {
    const [id, topic] = receipt.line
    receipt.order = ++this.#order
    if (id > 0) this.#byId.set(id, receipt)
    this.#byTopic.delete(topic)
    this.#byTopic.set(topic, receipt)
    if (this.#byTopic.size <= MAX_RECEIPTS) return
    const [oldest] = this.#byTopic.keys()
    this.#byTopic.delete(oldest)
  }

  async #flush () {
    const lines = this.#pending.splice(0)
    this.#lines += lines.length
    if (this.#lines > 4 * MAX_RECEIPTS) await this.#compact()
    await this.#file.appendFile(`${lines.join('\n')}\n`)
  }

  async #load () {
    const text = await readFile(this.#path, 'utf8').catch(() => '')
    for (const line of text.split('\n').map(parse)) {
      if (line?.length === 0) this.#byId.clear()
      if (!line || line.length < 3) continue
      const lacking = partsOf(line).flatMap((part, i) => (this.#rows.get(part[0]) ?? 0) >= part[1] ? [] : [i])
      for (const i of lacking) partsOf(line)[i][1] = NEVER
      this.#add({ line, kept: null, lacking })
    }
    await this.#compact()
  }

  /** Only what is still known, oldest first; a torn line at the end goes, too. */
  async #compact () {
    const receipts = [...new Set([...this.#byTopic.values(), ...this.#byId.values()])].sort((a, b) => (a.order ?? 0) - (b.order ?? 0))
    const lines = receipts.map(receipt => {
      const [id, ...rest] = receipt.line
      return `${JSON.stringify([this.#byId.get(id) === receipt ? id : 0, ...rest])}\n`
    })
    await replaceFile(this.#path, lines.join(''))
    await this.#file?.close()
    this.#file = await open(this.#path, 'a')
    this.#lines = lines.length
  }
}

/**
 * What is on our own topics comes over another connection, with packet ids of its own.
 * @param {Packet} packet
 * @returns {[id: number, topic: number, hash: number]}
 */
function lineOf ({ qos, messageId = 0, topic, payload }) {
  return [qos === 1 && !topic.startsWith(`${ROOT}/`) ? messageId : 0, hashOf(Buffer.from(topic)), hashOf(payload)]
}

/** @param {Line} line */
function partsOf (line) { return /** @type {Part[]} */ (line.slice(3)) }

/** @param {string} text @returns {Line|null} */
function parse (text) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
