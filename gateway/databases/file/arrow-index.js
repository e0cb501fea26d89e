import { flatbuffer, int16, structs, table, Table, vector } from '../../messages/codecs/arrow/flatbuffer.js'
import { CONTINUATION, Header, METADATA_V5, PREFIX_BYTES } from '../../messages/codecs/arrow/format.js'
import { SluiceError } from '../../base/errors.js'

/**
 * Where the record batches of an Arrow file are: the contents of its footer.
 * https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
 */

const NAME = Buffer.from('ARROW1')
/** At the beginning of a file, padded to eight bytes. */
export const MAGIC = Buffer.concat([NAME, Buffer.alloc(2)])
/** Of the marker at the end of a stream. */
export const END_BYTES = 8

const BLOCK_BYTES = 24
const READ_BYTES = 64 * 1024

/**
 * @typedef {import('./formats.js').Index} Index
 * @typedef {{at: number, metadataBytes: number, bodyBytes: number}} Block
 */

/** @implements {Index} */
export class ArrowIndex {
  /** The schema message's metadata. */
  #schema = Buffer.alloc(0)
  /** @type {Block[]} */
  #blocks = []

  /** @param {number} at  of the whole messages in `bytes` @param {Buffer} bytes */
  add (at, bytes) {
    for (let offset = at === 0 ? MAGIC.length : 0; offset < bytes.length;) {
      const metadataBytes = bytes.readUInt32LE(offset + 4)
      offset += this.#addMessage(at + offset, bytes.subarray(offset + PREFIX_BYTES, offset + PREFIX_BYTES + metadataBytes))
    }
  }

  /** @param {import('node:fs/promises').FileHandle} file @param {number} length */
  async read (file, length) {
    const window = new Window(file, length)
    for (let at = MAGIC.length; at < length;) {
      const metadataBytes = (await window.bytes(at, PREFIX_BYTES)).readUInt32LE(4)
      const metadata = await window.bytes(at + PREFIX_BYTES, metadataBytes)
      try {
        at += this.#addMessage(at, metadata)
      } catch (error) {
        throw damaged(error)
      }
    }
  }

  tail () {
    if (this.#schema.length === 0) throw damaged()
    let blocksAt = 0
    const footer = flatbuffer(table([
      int16(METADATA_V5),
      embedded(this.#schema),
      vector([]),
      structs(this.#blocks.length, BLOCK_BYTES, at => { blocksAt = at })
    ]))
    this.#blocks.forEach(({ at, metadataBytes, bodyBytes }, i) => {
      const block = blocksAt + i * BLOCK_BYTES
      footer.writeBigInt64LE(BigInt(at), block)
      footer.writeInt32LE(metadataBytes, block + 8)
      footer.writeBigInt64LE(BigInt(bodyBytes), block + 16)
    })
    const end = Buffer.alloc(END_BYTES)
    end.writeUInt32LE(CONTINUATION)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(footer.length)
    return Buffer.concat([end, footer, length, NAME])
  }

  /** @param {number} at @param {Buffer} metadata @returns {number} the message's bytes */
  #addMessage (at, metadata) {
    const message = Table.root(new DataView(metadata.buffer, metadata.byteOffset, metadata.length))
    const metadataBytes = PREFIX_BYTES + metadata.length
    const bodyBytes = message.size(3)
    if (message.uint8(1) === Header.schema) this.#schema = Buffer.from(metadata)
    else this.#blocks.push({ at, metadataBytes, bodyBytes })
    return metadataBytes + bodyBytes
  }
}

/**
 * The Schema table of a message, with all that it points to: a copy of the message, of which only that table is pointed to.
 * @param {Buffer} metadata
 * @returns {import('../../messages/codecs/arrow/flatbuffer.js').Child}
 */
function embedded (metadata) {
  const schema = Table.root(new DataView(metadata.buffer, metadata.byteOffset, metadata.length)).table(2)
  if (!schema) throw damaged()
  return layout => {
    const at = layout.reserve(metadata.length, 8)
    metadata.copy(layout.bytes, at)
    return at + schema.at
  }
}

/** @param {unknown} [cause] */
function damaged (cause) {
  return new SluiceError('SLUICE_SINK_FILE_DAMAGED', 'An Arrow file does not contain what was written.', {
    cause, fix: 'The disk may be failing.'
  })
}

/** A file read from front to back, where little of it is wanted. */
class Window {
  #buffer = Buffer.alloc(0)
  #at = 0

  /** @param {import('node:fs/promises').FileHandle} file @param {number} length */
  constructor (file, length) {
    this.file = file
    this.length = length
  }

  /** @param {number} at @param {number} count */
  async bytes (at, count) {
    if (at + count > this.length) throw damaged()
    if (at < this.#at || at + count > this.#at + this.#buffer.length) {
      const buffer = Buffer.allocUnsafe(Math.max(count, READ_BYTES))
      const { bytesRead } = await this.file.read(buffer, 0, buffer.length, at)
      this.#buffer = buffer.subarray(0, bytesRead)
      this.#at = at
    }
    return this.#buffer.subarray(at - this.#at, at - this.#at + count)
  }
}
