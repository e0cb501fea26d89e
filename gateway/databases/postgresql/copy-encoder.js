import { cellWriter } from './cells.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').PlacedColumn} PlacedColumn
 * @typedef {import('./cells.js').Chunk} Chunk
 */

const CHUNK_BYTES = 128 * 1024

const COPY_DATA = 'd'.charCodeAt(0)
const FRAME_BYTES = 5

// Signature, flags, length of the header's extension; see "Binary Format" in PostgreSQL's documentation of COPY.
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from([0xff, 0xff])

/** Turns batches into the CopyData messages of a binary COPY, in two pieces of memory used in turn. */
export class CopyEncoder {
  #chunks = [newChunk(CHUNK_BYTES), newChunk(CHUNK_BYTES)]
  #turn = 0

  /** Memory for at least these bytes of rows. @param {number} bytes */
  #take (bytes) {
    const needed = FRAME_BYTES + bytes + TRAILER.length
    this.#turn = 1 - this.#turn
    return needed > CHUNK_BYTES ? newChunk(needed) : this.#chunks[this.#turn]
  }

  /**
   * Each message is valid until the next but one is asked for: one can be sent while the next is encoded.
   * @param {PlacedColumn[]} columns
   * @param {Batch[]} batches  that all have these columns
   * @returns {Generator<Buffer, void, void>}
   */
  * messages (columns, batches) {
    let chunk = this.#take(0)
    let at = FRAME_BYTES + HEADER.copy(chunk.buffer, FRAME_BYTES)
    for (const batch of batches) {
      const rows = new RowEncoder(columns, batch)
      let row = 0
      while (true) {
        [row, at] = rows.write(chunk, at, row)
        if (row === batch.rows) break
        yield framed(chunk, at)
        chunk = this.#take(rows.mostBytes(row))
        at = FRAME_BYTES
      }
    }
    yield framed(chunk, at + TRAILER.copy(chunk.buffer, at))
  }
}

/** The rows of one batch. */
class RowEncoder {
  #rows
  #cells
  #fixedBytes
  #varyingBytes

  /** @param {PlacedColumn[]} columns @param {Batch} batch */
  constructor (columns, batch) {
    const writers = columns.map(column => cellWriter(column, batch))
    this.#rows = batch.rows
    this.#cells = writers.map(({ write }) => write)
    this.#fixedBytes = writers.reduce((sum, { fixedBytes }) => sum + fixedBytes, 2)
    this.#varyingBytes = writers.flatMap(({ varyingBytes }) => varyingBytes ?? [])
  }

  /** The most that a row takes. @param {number} row */
  mostBytes (row) {
    let bytes = this.#fixedBytes
    for (const varyingBytes of this.#varyingBytes) bytes += varyingBytes(row)
    return bytes
  }

  /**
   * Writes as many rows as there is room for.
   * @param {Chunk} chunk
   * @param {number} at
   * @param {number} row  the first
   * @returns {[number, number]} the next row, and where the rows end
   */
  write (chunk, at, row) {
    const cells = this.#cells
    const limit = chunk.buffer.length - TRAILER.length
    for (; row < this.#rows && at + this.mostBytes(row) <= limit; row++) {
      chunk.view.setInt16(at, cells.length)
      at += 2
      for (let c = 0; c < cells.length; c++) at = cells[c](chunk, at, row)
    }
    return [row, at]
  }
}

/** @param {number} bytes @returns {Chunk} */
function newChunk (bytes) {
  const buffer = Buffer.allocUnsafeSlow(bytes)
  return { buffer, view: new DataView(buffer.buffer) }
}

/** @param {Chunk} chunk @param {number} end */
function framed ({ buffer, view }, end) {
  buffer[0] = COPY_DATA
  view.setInt32(1, end - 1)
  return buffer.subarray(0, end)
}
