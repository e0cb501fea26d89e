import { csvCell, textCell } from './csv-cells.js'

/**
 * @typedef {import('./formats.js').Column} Column
 * @typedef {import('./formats.js').Piece} Piece
 */

const CHUNK_BYTES = 2 ** 20
const COMMA = 0x2c
const NEWLINE = 0x0a

/**
 * CSV by RFC 4180, but with line feeds alone, in UTF-8. A text is always quoted, so that it differs from a number, and an empty one from a
 * missing value.
 * @type {import('./formats.js').Format}
 */
export const csv = {
  ending: 'csv',
  fits (has, needs) {
    const names = new Set(has.map(({ name }) => name))
    return needs.every(({ name }) => names.has(name))
  },
  head: columns => Buffer.from(`${columns.map(({ name }) => /[",\r\n]|^\s|\s$/.test(name) ? textCell(name) : name).join(',')}\n`),
  encode (columns, pieces, { timeFormat }) {
    const out = new Chunks()
    for (const piece of pieces) encodeRows(columns, piece, timeFormat, out)
    return out.finished()
  }
}

/** @param {Column[]} columns @param {Piece} piece @param {'iso'|'ns'} timeFormat @param {Chunks} out */
function encodeRows (columns, { batch, columns: own }, timeFormat, out) {
  const byName = new Map(own.map(column => [column.name, column]))
  const writers = columns.map(({ name }) => csvCell(byName.get(name), batch, timeFormat))
  const cells = writers.map(({ write }) => write)
  const fixedBytes = writers.reduce((sum, writer) => sum + writer.fixedBytes + 1, 0)
  const varying = writers.flatMap(({ varyingBytes }) => varyingBytes ?? [])
  for (let row = 0; row < batch.rows; row++) {
    let most = fixedBytes
    for (let v = 0; v < varying.length; v++) most += varying[v](row)
    if (out.at + most > out.chunk.length) out.next(most)
    const { chunk } = out
    let at = cells[0](chunk, out.at, row)
    for (let c = 1; c < cells.length; c++) {
      chunk[at] = COMMA
      at = cells[c](chunk, at + 1, row)
    }
    chunk[at] = NEWLINE
    out.at = at + 1
  }
}

/** Memory that is written to, piece by piece. */
class Chunks {
  /** @type {Buffer[]} */
  #full = []
  chunk = Buffer.alloc(0)
  at = 0

  /** @param {number} bytes  at least */
  next (bytes) {
    if (this.at > 0) this.#full.push(this.chunk.subarray(0, this.at))
    this.chunk = Buffer.allocUnsafe(Math.max(bytes, CHUNK_BYTES))
    this.at = 0
  }

  finished () {
    return this.at > 0 ? [...this.#full, this.chunk.subarray(0, this.at)] : this.#full
  }
}
