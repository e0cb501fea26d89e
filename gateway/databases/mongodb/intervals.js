import { floor } from '../../batch/layouts.js'
import { endDocument, FRAME_BYTES, MAX_DOCUMENT_BYTES, Start } from './documents.js'
import { constantElements, header, milliseconds, TYPES } from './elements.js'
import { constantsOf } from './names.js'
import { ValueArrays } from './value-arrays.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./documents.js').Documents} Documents
 *
 * @typedef {object} Interval
 * @property {bigint} intervalNs
 * @property {boolean} [isPaper]  documents as Arnst, Plenk and Wöltche print them: `{time, measurements: [{time, sensors: […]}, …]}`
 */

/** The longest interval whose nanoseconds an int32 counts. */
const MAX_INT32_INTERVAL_NS = 2n ** 31n

/**
 * A document per interval: its rows as an array of `{ns, m}`, nanoseconds since its start and a value per field, null where it is missing.
 * What would be larger than MongoDB's limit becomes several documents. The _id counts by the first row, so the documents of one interval
 * are stored whole or, while rows of it are still refused, not at all.
 * @param {import('./documents.js').Source} source
 * @param {Interval} interval
 * @returns {Documents}
 */
export function intervalDocuments ({ batch, key, keys, finiteOnly }, interval) {
  const { intervalNs, isPaper = false } = interval
  const constants = constantsOf(keys, batch)
  const samples = new Samples(batch, finiteOnly, interval)
  const { head, sizeAt } = isPaper ? { head: header(TYPES.array, keys.fields[0].key), sizeAt: null } : headOf(keys, batch)
  const isExact = !isPaper
  const mostFixedBytes = new Start(key, constants, new BigInt64Array(0), { isExact }).length + head.length + FRAME_BYTES + 1
  const { groups, refused } = grouped(batch, samples, intervalNs, MAX_DOCUMENT_BYTES - mostFixedBytes)
  const start = new Start(key, constants, BigInt64Array.from(groups, group => group.start), { isExact })
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
      if (sizeAt !== null) chunk.view.setInt32(at + sizeAt, rows.length, true)
      at += head.length
      const arrayAt = at
      at += 4
      for (let n = 0; n < rows.length; n++) at = samples.write(chunk, at, n, rows[n], intervalStart)
      return endDocument(chunk, from, endDocument(chunk, arrayAt, at))
    }
  }
}

/** What precedes the samples, and where in it their number is. @param {import('./names.js').Keys} keys @param {Batch} batch */
function headOf ({ fields: [size, fields, measurements] }, batch) {
  const sizeHead = header(TYPES.int32, size.key)
  const fieldNames = constantElements(new Map([[fields.key, batch.fields.map(({ name }) => name)]]))
  return { head: Buffer.concat([sizeHead, Buffer.alloc(4), fieldNames, header(TYPES.array, measurements.key)]), sizeAt: sizeHead.length }
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

/** The rows of a batch as elements of an array, each a document of its time and its values. */
class Samples {
  #values
  #timeHead
  #putTime
  #timeBytes
  /** @type {Buffer[]} by position */
  #heads = []

  /** @param {Batch} batch @param {boolean} finiteOnly @param {Interval} interval */
  constructor (batch, finiteOnly, { intervalNs, isPaper = false }) {
    const isShort = intervalNs <= MAX_INT32_INTERVAL_NS
    this.#values = new ValueArrays(batch, isPaper ? 'sensors' : 'm', finiteOnly)
    this.#timeHead = isPaper ? header(TYPES.date, 'time') : header(isShort ? TYPES.int32 : TYPES.int64, 'ns')
    this.#timeBytes = isShort && !isPaper ? 4 : 8
    this.#putTime = isPaper ? milliseconds(batch.time) : since(batch.time, isShort)
  }

  /** Why the server would refuse a row, or null. @param {number} row */
  refusal (row) { return this.#values.refusal(row) }

  /** @param {number} row */
  mostBytes (row) {
    return 9 + this.#timeHead.length + this.#timeBytes + FRAME_BYTES + this.#values.mostBytes(row)
  }

  /**
   * @param {import('./elements.js').Chunk} chunk @param {number} at
   * @param {number} position  in the array
   * @param {number} row
   * @param {bigint} start  of the interval
   */
  write (chunk, at, position, row, start) {
    const { buffer } = chunk
    const head = this.#heads[position] ??= header(TYPES.document, String(position))
    buffer.set(head, at)
    at += head.length
    const documentAt = at
    buffer.set(this.#timeHead, at + 4)
    at = this.#putTime(chunk, at + 4 + this.#timeHead.length, row, start)
    return endDocument(chunk, documentAt, this.#values.write(chunk, at, row))
  }
}

/** Nanoseconds since the start of the interval. @param {BigInt64Array} time @param {boolean} isShort */
function since (time, isShort) {
  return (/** @type {import('./elements.js').Chunk} */ { view }, /** @type {number} */ at, /** @type {number} */ row, start = 0n) => {
    const ns = Number(time[row] - start)
    view.setUint32(at, ns, true)
    if (!isShort) view.setInt32(at + 4, Math.floor(ns / 2 ** 32), true)
    return at + (isShort ? 4 : 8)
  }
}
