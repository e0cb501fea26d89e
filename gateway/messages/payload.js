import { SluiceError, describe } from '../base/errors.js'
import { Batch } from '../batch/batch.js'
import { nowNs } from '../clock/system-clock.js'
import { MAX_FIELDS, MAX_ROWS, tooLarge } from './bounds.js'
import { TOO_MANY_FIELDS, cellsOf } from './cells.js'
import { contentsOf } from './contents.js'
import { Gatherer } from './gatherer.js'
import { timeIn } from './precision.js'
import { Refusals } from './refusals.js'
import { parseTime } from '../batch/time.js'

/**
 * @typedef {import('../batch/time.js').TimeUnit} TimeUnit
 * @typedef {import('./contents.js').Message} Message
 * @typedef {import('./contents.js').Contents} Contents
 * @typedef {import('./refusals.js').Refused} Refused
 */

/**
 * Batches, without identity, of what a Node-RED message carries. A payload is
 *
 * - a Batch: returned as it is;
 * - a number, boolean, BigInt, string or Buffer: one row, field `value`;
 * - an array of those (registers, say): one row, fields `value0`, `value1`, …;
 * - an object of values: one row;
 * - an array of objects: a row each;
 * - points as in node-red-contrib-influxdb: `[fields, tags]`, an array of such pairs, or `{measurement, tags, fields, time}` objects
 *   (`values` is accepted for `fields`);
 * - `{source, tags, rows}` with an array of rows: what `encodeJson` writes.
 *
 * An array of two objects is `[fields, tags]` if the second holds only text, under names that the first does not have, and the first not
 * only text; otherwise two rows.
 *
 * So that a sink can replace other nodes, a message may also be what those accept:
 *
 * - node-red-contrib-influxdb: with msg.measurement, two objects without a common name are always `[fields, tags]`, and the text "5i" is
 *   the integer 5, as it is in a point that names its measurement. msg.precision (ns, us, u, ms, s, m, h) is the unit of the rows' times;
 * - node-red-contrib-postgresql: an INSERT statement in msg.query, with the values of $1 in msg.params or those of $name in
 *   msg.queryParameters. With msg.pgsql, which that node adds to the result of a query, the payload counts;
 * - node-red-node-mysql: an INSERT statement in msg.topic, with the values of ? or :name in msg.payload, for `VALUES ?` a list of rows;
 * - the nodes for MongoDB: with msg.collection, a document or an array of them; with msg.operation insertOne or insertMany, its arguments.
 *   The name of a value in an object has dots, that of one in an array its number: `{a: {b: 1}, c: [2, 3]}` has the fields `a.b`, `c0` and
 *   `c1`. An ObjectId is its hexadecimal text; an `_id` that the MongoDB sink gave is left out. Without either, a list of documents in a
 *   list, `[[…]]`, is a row each, unless it can be a pair `[fields, tags]`.
 *
 * An INSERT names its columns and gives plain values: placeholders, numbers, texts, NULL, TRUE, FALSE, NOW() and CURRENT_TIMESTAMP. Its
 * table, without the schema, is the source; a time without a zone is UTC. All other SQL, templates included, and other operations are
 * refused. Dates that are not the row's time become ISO 8601 text in statements and documents.
 *
 * The source is the point's measurement, else that of `{source, tags, rows}`, the table or msg.measurement, else `source`, else
 * msg.collection, else msg.topic. Rows of one source with equal tags make one batch. A row's time is its `time`, `timestamp` or `ts`, else
 * msg.timestamp, else now.
 *
 * Types: number → float64, BigInt → int64, boolean → bool, string → string, Buffer → bytes; null and undefined are missing. Refused are, as
 * values, NaN and ±Infinity, BigInts beyond int64, objects and arrays (the row is kept without them); as rows, those with a bad time, of
 * another type than the column's first value, or without any value. Refused as a whole is what `bounds.js` forbids.
 *
 * Never throws for what is in a message, and never changes it.
 * @param {Message} message
 * @param {object} [options]
 * @param {string} [options.source]
 * @param {string} [options.otherwise]  the source of rows for which nothing else gives one
 * @param {string} [options.sourceFix]  what to do about rows without a source
 * @param {boolean} [options.nested]  any row may hold objects and arrays, as documents do
 * @param {boolean} [options.hasOneNumber]  a BigInt is a number that float64 does not hold, see `one-number.js`
 * @param {TimeUnit} [options.timeUnit]  of times that are numbers
 * @param {() => bigint} [options.now]  in nanoseconds
 * @param {Uint8Array} [options.bytes]  from which the message was read
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function toBatches (message, options = {}) {
  const { source, otherwise, sourceFix, nested = false, hasOneNumber = false, timeUnit = 'ms', now = nowNs, bytes } = options
  if (message?.payload instanceof Batch) return { batches: [message.payload], refused: [] }
  const conversion = new Conversion(message, { source, otherwise, sourceFix, nested, hasOneNumber, timeUnit, now })
  try {
    conversion.takeAll()
  } catch (error) {
    if (error instanceof SluiceError) conversion.refuse(-1, describe(error), requestOf(message))
    else conversion.refuse(-1, `it cannot be read: ${describe(error)}`, message)
  }
  return { batches: conversion.batches(), refused: conversion.refused.list(bytes ?? message.payload) }
}

class Conversion {
  refused = new Refusals()
  #gatherer
  /** @type {bigint|undefined} */
  #messageTime

  /**
   * @param {Message} message
   * @param {{source?: string, otherwise?: string, sourceFix?: string, nested: boolean, hasOneNumber: boolean, timeUnit: TimeUnit,
   *   now: () => bigint}} options
   */
  constructor (message, { source, otherwise, sourceFix, nested, hasOneNumber, timeUnit, now }) {
    this.message = message
    this.source = source
    this.otherwise = otherwise
    this.nested = nested
    this.#gatherer = new Gatherer({ hasOneNumber, sourceFix })
    this.timeUnit = timeUnit
    this.now = now
  }

  takeAll () {
    const { payload, topic } = this.message ?? {}
    const contents = contentsOf(this.message ?? {}, this.now, this.nested)
    if (!contents) return this.refuse(-1, 'the message has no payload', payload)
    const { rows, source, fallback = topic } = contents
    if (rows.length === 0) return this.refuse(-1, 'the payload has no rows', payload)
    if (rows.length > MAX_ROWS) throw tooLarge(`it has ${rows.length} rows, over ${MAX_ROWS}`)
    const ownSource = source ?? (this.source || fallback || this.otherwise)
    for (let index = 0; index < rows.length; index++) {
      const reason = this.#tryRow(rows[index], index, ownSource, contents)
      if (reason && !this.refused.addRow(index, reason, rows[index], rows.length - index - 1)) return
    }
  }

  /** @param {unknown} row @param {number} index @param {unknown} ownSource @param {Contents} contents */
  #tryRow (row, index, ownSource, contents) {
    try {
      return this.#takeRow(row, index, ownSource, contents)
    } catch (error) {
      return describe(error)
    }
  }

  /**
   * @param {unknown} row @param {number} index @param {unknown} ownSource @param {Contents} contents
   * @returns {string|null} why it was refused
   */
  #takeRow (row, index, ownSource, { read: readRow, tags: ownTags, precision }) {
    const read = readRow(row)
    if (!read) return 'it is not an object of values, a point or a [fields, tags] pair'
    const { values, time, timeKey, tags, measurement } = read
    const refusedBefore = this.refused.count
    const names = Object.keys(values).filter(name => name !== timeKey)
    const cells = cellsOf(names, values, (reason, value) => this.refuse(index, reason, value))
    if (cells.length > MAX_FIELDS) return TOO_MANY_FIELDS
    if (cells.length === 0) return this.refused.count > refusedBefore ? null : 'it holds no values'
    const ns = time == null ? this.#timeOfMessage() : precision ? timeIn(time, precision) : parseTime(time, this.timeUnit)
    return this.#gatherer.take(measurement ?? ownSource, tags ?? ownTags, ns, cells)
  }

  #timeOfMessage () {
    const { timestamp } = this.message
    this.#messageTime ??= timestamp == null ? this.now() : parseTime(timestamp, this.timeUnit)
    return this.#messageTime
  }

  /** @param {number} index @param {string} reason @param {unknown} value */
  refuse (index, reason, value) {
    this.refused.add(index, reason, value)
  }

  batches () {
    return this.#gatherer.batches()
  }
}

/** The properties of a message that make up a statement or operation, without what else it carries. @param {Message} message */
function requestOf ({ payload, topic, query, params, queryParameters, collection, operation }) {
  return { payload, topic, query, params, queryParameters, collection, operation }
}
