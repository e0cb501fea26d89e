import { MAX_DOCUMENT_BYTES } from './documents.js'

/**
 * @typedef {import('./documents.js').Documents} Documents
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {{batch: Batch, rest: Batch, documents: Documents}} Encoded  `documents` of `rest`, which is all or some rows of `batch`
 * @typedef {{bytes: Buffer, documents: {encoded: Encoded, i: number}[]}} Message  documents one after another
 */

/** A server accepts 48,000,000 bytes and 100,000 documents a message. */
const MESSAGE_BYTES = 24_000_000
const MESSAGE_DOCUMENTS = 100_000
const FIRST_BYTES = 256 * 1024

/** Puts documents into messages, in one piece of memory that grows as needed. */
export class Chunks {
  /** @type {import('./elements.js').Chunk} */
  #chunk = newChunk(FIRST_BYTES)

  /** @param {number} used @param {number} needed */
  #grow (used, needed) {
    const larger = newChunk(Math.max(2 * this.#chunk.buffer.length, needed))
    this.#chunk.buffer.copy(larger.buffer, 0, 0, used)
    this.#chunk = larger
  }

  /**
   * Each message is valid until the next one is asked for.
   * @param {Encoded[]} all
   * @returns {Generator<Message, void, void>}
   */
  * messages (all) {
    let at = 0
    /** @type {Message['documents']} */
    let documents = []
    for (const encoded of all) {
      const { length, mostBytes, write, rowsOf, refused } = encoded.documents
      for (let i = 0; i < length; i++) {
        const most = mostBytes(i)
        if (most > MAX_DOCUMENT_BYTES) {
          refused.push({ rows: rowsOf(i), reason: 'It is larger than a document may be, 16 MiB' })
          continue
        }
        if (documents.length > 0 && (at + most > MESSAGE_BYTES || documents.length === MESSAGE_DOCUMENTS)) {
          yield { bytes: this.#chunk.buffer.subarray(0, at), documents }
          at = 0
          documents = []
        }
        if (at + most > this.#chunk.buffer.length) this.#grow(at, at + most)
        at = write(this.#chunk, at, i)
        documents.push({ encoded, i })
      }
    }
    if (documents.length > 0) yield { bytes: this.#chunk.buffer.subarray(0, at), documents }
  }
}

/** @param {number} bytes */
function newChunk (bytes) {
  const buffer = Buffer.allocUnsafeSlow(bytes)
  return { buffer, view: new DataView(buffer.buffer) }
}
