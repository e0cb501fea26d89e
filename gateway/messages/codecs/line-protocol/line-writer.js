import { columnTag, constant, constantTag, fieldCell, fieldTag, numberTag } from './cells.js'
import { measurementText } from './names.js'
import { int64Writer, NUMBER_BYTES } from './numbers.js'

/**
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('./cells.js').CellWriter} CellWriter
 * @typedef {import('./line-protocol.js').LineTag|{name: string, nth: Int32Array}} Tag
 */

const SPACE = 0x20
const NEWLINE = 0x0a

/** Writes the rows of one batch as lines of one measurement with the same tags and fields. */
export class LineWriter {
  #head
  #fields
  #writeTime
  #fixedBytes
  #varyingBytes

  /**
   * @param {Batch} batch
   * @param {string} measurement
   * @param {Tag[]} tags
   * @param {import('./line-protocol.js').LineField[]} fields
   */
  constructor (batch, measurement, tags, fields) {
    // The server keeps tags sorted by name, and would sort them itself.
    const inOrder = tags.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
    this.#head = joined([constant(Buffer.from(measurementText(measurement))), ...inOrder.flatMap(tag => tagWriter(tag, batch) ?? [])])
    this.#fields = fields.map(({ name, kind, field }) => fieldCell(name, kind, batch, field))
    this.#writeTime = int64Writer(batch.time)
    const cells = [...this.#head, ...this.#fields]
    this.#fixedBytes = cells.reduce((sum, { fixedBytes }) => sum + fixedBytes, NUMBER_BYTES + 2)
    this.#varyingBytes = cells.flatMap(({ varyingBytes }) => varyingBytes ?? [])
  }

  /** The most bytes that a line takes. @param {number} row */
  maxBytes (row) {
    let bytes = this.#fixedBytes
    for (const varyingBytes of this.#varyingBytes) bytes += varyingBytes(row)
    return bytes
  }

  /**
   * @param {Buffer} buffer
   * @param {number} start
   * @param {number} row
   * @returns {number} where the line ends; `start` where the row has no value
   */
  write (buffer, start, row) {
    let at = start
    for (let i = 0; i < this.#head.length; i++) at = this.#head[i].write(buffer, at, row)
    buffer[at++] = SPACE
    const first = at
    for (let i = 0; i < this.#fields.length; i++) at = this.#fields[i].write(buffer, at, row)
    if (at === first) return start
    buffer[at - 1] = SPACE // replaces the last field's comma
    at = this.#writeTime(buffer, at, row)
    buffer[at] = NEWLINE
    return at + 1
  }
}

/** With what is the same in every line, and next to each other, in one. @param {CellWriter[]} cells */
function joined (cells) {
  /** @type {CellWriter[]} */
  const kept = []
  for (const cell of cells) {
    const { bytes: before } = kept.at(-1) ?? {}
    if (before && cell.bytes) kept.splice(-1, 1, constant(Buffer.concat([before, cell.bytes])))
    else kept.push(cell)
  }
  return kept
}

/** @param {Tag} tag @param {Batch} batch @returns {CellWriter|null} */
function tagWriter (tag, batch) {
  if ('nth' in tag) return numberTag(tag.name, tag.nth)
  if ('field' in tag) return fieldTag(tag.name, batch, tag.field)
  const { name, value } = tag
  return typeof value === 'string' ? constantTag(name, value) : columnTag(name, 'string', value.values, value.valid)
}
