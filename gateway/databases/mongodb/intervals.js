import { floor } from '../../batch/layouts.js'
import { endDocument, FRAME_BYTES, MAX_DOCUMENT_BYTES, presence, Start } from './documents.js'
import { constantElements, elementWriter, header, TYPES } from './elements.js'
import { constantsOf } from './names.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./documents.js').Documents} Documents
 */

/** The longest interval whose nanoseconds an int32 counts. */
const MAX_INT32_INTERVAL_NS = 2n ** 31n

/**
 * A document per interval: its rows as an array of `{ns, m}`, nanoseconds since its start and a value per field, null where it is missing.
 * What would be larger than MongoDB's limit becomes several documents. The _id counts by the first row, so the documents of one interval
 * are stored whole or, while rows of it are still refused, not at all.
 * @param {import('./documents.js').Source} source
 * @param {bigint} intervalNs
 * @returns {Documents}
 */
export function intervalDocuments ({ batch, key, keys, finiteOnly }, intervalNs) {
  const [sizeKey, fieldsKey, measurementsKey] = keys.fields.map(each => each.key)
  const constants = constantsOf(keys, batch)
  const samples = new Samples(batch, finiteOnly, intervalNs)
  const fieldNames = constantElements(new Map([[fieldsKey, batch.fields.map(({ name }) => name)]]))
  const head = Buffer.concat([header(TYPES.int32, sizeKey), Buffer.alloc(4), fieldNames, header(TYPES.array, measurementsKey)])
  const sizeAt = header(TYPES.int32, sizeKey).length
  const mostFixedBytes = new Start(key, constants, new BigInt64Array(0)).length + head.length + FRAME_BYTES + 1
  const { groups, refused } = grouped(batch, samples, intervalNs, MAX_DOCUMENT_BYTES - mostFixedBytes)
  const start = new Start(key, constants, BigInt64Array.from(groups, group => group.start))
  return {
    length: groups.length,
    refused,
    rowsOf: i => groups[i].rows,
    idOf: i => start.id(batch.rowNumber(groups[i].rows[0])),
    mostBytes: i => mostFixedBytes + groups[i].mostBytes,
    write (chunk, from, i) {
      const { rows, start: intervalStart } = groups[i]
      let at = start.write(chunk, from, i, batch.rowNumber(rows[0]))
      chunk.buffer.set(head, at)
      chunk.view.setInt32(at + sizeAt, rows.length, true)
      at += head.length
      const arrayAt = at
      at += 4
      for (let n = 0; n < rows.length; n++) at = samples.write(chunk, at, n, rows[n], intervalStart)
      return endDocument(chunk, from, endDocument(chunk, arrayAt, at))
    }
  }
}

/** @typedef {{start: bigint, rows: number[], mostBytes: number}} Group  of a document */

/**
 * @param {Batch} batch
 * @param {Samples} samples
 * @param {bigint} intervalNs
 * @param {number} maxBytes  of the samples of a document
 */
function grouped (batch, samples, intervalNs, maxBytes) {
  /** @type {Map<bigint, Group[]>} */
  const intervals = new Map()
  /** @type {Set<bigint>} */
  const unfinished = new Set()
  /** @type {Documents['refused']} */
  const refused = []
  /** @type {{start: bigint, groups: Group[]}|null} */
  let last = null
  for (let row = 0; row < batch.rows; row++) {
    const time = batch.time[row]
    if (last === null || time < last.start || time >= last.start + intervalNs) {
      const start = floor(time, intervalNs)
      const groups = intervals.get(start) ?? []
      intervals.set(start, groups)
      last = { start, groups }
    }
    const { start, groups } = last
    const bytes = samples.mostBytes(row)
    const reason = samples.refusal(row) ?? (bytes > maxBytes ? 'One row is larger than a document may be, 16 MiB' : null)
    if (reason) {
      unfinished.add(start)
      refused.push({ rows: [row], reason })
      continue
    }
    const group = groups.at(-1)
    if (group && group.mostBytes + bytes <= maxBytes) {
      group.rows.push(row)
      group.mostBytes += bytes
    } else {
      groups.push({ start, rows: [row], mostBytes: bytes })
    }
  }
  for (const start of unfinished) intervals.delete(start)
  return { groups: [...intervals.values()].flat(), refused }
}

/** The rows of a batch as elements of an array. */
class Samples {
  #time
  #elements
  #arrayHead = header(TYPES.array, 'm')
  #nsHead
  #isShort
  #floats
  /** @type {Buffer[]} by position */
  #heads = []

  /** @param {Batch} batch @param {boolean} finiteOnly @param {bigint} intervalNs */
  constructor (batch, finiteOnly, intervalNs) {
    const { fields, columns } = batch
    this.#time = batch.time
    this.#isShort = intervalNs <= MAX_INT32_INTERVAL_NS
    this.#nsHead = header(this.#isShort ? TYPES.int32 : TYPES.int64, 'ns')
    this.#elements = fields.map(({ type }, f) => {
      return elementWriter(String(f), type, columns[f], presence(batch, f, finiteOnly), { nullIfMissing: true })
    })
    this.#floats = fields.flatMap(({ type }, f) => {
      const mustBeFinite = finiteOnly && (type === 'float64' || type === 'float32')
      return mustBeFinite ? [{ column: columns[f], valid: batch.validity[f] }] : []
    })
  }

  /** Why the server would refuse a row, or null. @param {number} row */
  refusal (row) {
    const isInfinite = this.#floats.some(({ column, valid }) => {
      return valid?.[row] !== 0 && Math.abs(/** @type {number} */ (column[row])) === Infinity
    })
    return isInfinite ? 'FerretDB stores no infinities' : null
  }

  /** @param {number} row */
  mostBytes (row) {
    let bytes = 9 + this.#nsHead.length + 8 + this.#arrayHead.length + 2 * FRAME_BYTES
    for (const { mostBytes } of this.#elements) bytes += mostBytes(row)
    return bytes
  }

  /**
   * @param {import('./elements.js').Chunk} chunk @param {number} at
   * @param {number} position  in the array
   * @param {number} row
   * @param {bigint} start  of the interval
   */
  write (chunk, at, position, row, start) {
    const { buffer, view } = chunk
    const head = this.#heads[position] ??= header(TYPES.document, String(position))
    buffer.set(head, at)
    at += head.length
    const documentAt = at
    buffer.set(this.#nsHead, at + 4)
    at += 4 + this.#nsHead.length
    const ns = Number(this.#time[row] - start)
    view.setUint32(at, ns, true)
    if (!this.#isShort) view.setInt32(at + 4, Math.floor(ns / 2 ** 32), true)
    at += this.#isShort ? 4 : 8
    buffer.set(this.#arrayHead, at)
    at += this.#arrayHead.length
    const arrayAt = at
    at += 4
    for (const { write } of this.#elements) at = write(chunk, at, row)
    return endDocument(chunk, documentAt, endDocument(chunk, arrayAt, at))
  }
}
