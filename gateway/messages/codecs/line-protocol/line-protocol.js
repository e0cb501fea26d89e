import { fieldKind, narrowColumn } from './kinds.js'
import { LineWriter } from './line-writer.js'
import { ordinals } from './ordinals.js'

/**
 * InfluxDB line protocol with times in nanoseconds: `measurement,tag=value field=1.5,count=2i 1700000000000000000`.
 *
 * A value that is missing, NaN or infinite, which the protocol cannot express, is left out; a row without any value has no line. Bytes are
 * base64 texts; an empty tag is left out. What the protocol cannot express is refused (see `line-protocol/names.js`). No tag or field
 * is called `time`: that becomes `time~tag` or `time~field`.
 *
 * Rows of the same time and tags would be one point to InfluxDB: the second of them gets the tag `row=1`, the third `row=2` and so on. They
 * are counted by the stage, whatever batches they come in, otherwise over the whole batch. So a row is always the same point, whatever rows
 * were removed before.
 *
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('./kinds.js').FieldKind} FieldKind
 * @typedef {{name: string, value: import('../../../batch/tags.js').Tag}|{name: string, field: number}} LineTag  a tag, or the values of a
 *   field of the batch
 * @typedef {{name: string, field: number, kind: FieldKind}} LineField  `field` is its index in the batch
 *
 * @typedef {object} Lines  which parts of one batch are written
 * @property {Batch} batch
 * @property {string} [measurement]  default: the source
 * @property {LineTag[]} [tags]  default: the batch's own
 * @property {LineField[]} [fields]  default: all of the batch's
 * @property {boolean} [narrow]  a line a value: the field's name is the tag `sensor`, the value is `value` (a float), `value_int64`,
 *   `value_string` or `value_bytes`
 * @property {boolean} [isKeyed]  rows of the same time and tags are told apart by what else is in them
 */

export const contentType = 'text/plain; charset=utf-8'

/** The tag that distinguishes rows of the same time and tags. */
export const ROW_TAG = 'row'

/** The tag of the narrow layout that names the field. */
export const SENSOR_TAG = 'sensor'

const TIME = 'time'
const RESERVED_TAGS = [TIME, ROW_TAG, SENSOR_TAG]

/** Space in a chunk for a line that turns out to be one too many. */
const SPARE_BYTES = 2048

/**
 * @param {Iterable<Lines>} selections
 * @param {{chunkBytes?: number}} [options]  the most that a chunk holds; a longer line is a chunk of its own
 * @returns {Generator<Buffer, void, void>} chunks of whole lines, each with its own memory
 * @throws {import('../../../base/errors.js').SluiceError} SLUICE_SINK_IDENTIFIER
 */
export function * encodeLines (selections, { chunkBytes = 256 * 1024 } = {}) {
  const capacity = chunkBytes + SPARE_BYTES
  let chunk = Buffer.allocUnsafe(capacity)
  let at = 0
  for (const selection of selections) {
    const writers = lineWriters(selection)
    for (let row = 0; row < selection.batch.rows; row++) {
      for (let w = 0; w < writers.length; w++) {
        const maxBytes = writers[w].maxBytes(row)
        if (at + maxBytes > chunk.length) {
          if (at > 0) yield chunk.subarray(0, at)
          chunk = Buffer.allocUnsafe(Math.max(capacity, maxBytes))
          at = 0
        }
        const start = at
        at = writers[w].write(chunk, start, row)
        if (at > chunkBytes && start > 0 && at > start) {
          yield chunk.subarray(0, start)
          const line = chunk.subarray(start, at)
          chunk = Buffer.allocUnsafe(Math.max(capacity, line.length))
          at = line.copy(chunk)
        }
      }
    }
  }
  if (at > 0) yield chunk.subarray(0, at)
}

/** The batch's own tags; those with a reserved name are marked. @param {Batch} batch @returns {LineTag[]} */
function tagsOf ({ tags }) {
  return Object.entries(tags).map(([name, value]) => ({ name: RESERVED_TAGS.includes(name) ? `${name}~tag` : name, value }))
}

/** @param {Batch} batch @returns {LineField[]} */
function fieldsOf ({ fields }) {
  return fields.map(({ name, type }, field) => ({ name: name === TIME ? `${name}~field` : name, field, kind: fieldKind(type) }))
}

/** One for each line that a row can have. @param {Lines} lines */
function lineWriters ({ batch, measurement = batch.source, tags = tagsOf(batch), fields = fieldsOf(batch), narrow = false, isKeyed }) {
  const nth = isKeyed ? null : ordinals(batch, tags.flatMap(tag => 'field' in tag ? [tag.field] : []))
  const row = nth ? [{ name: ROW_TAG, nth }] : []
  if (!narrow) return [new LineWriter(batch, measurement, [...tags, ...row], fields)]
  return fields.map(({ name, field }) => {
    const value = narrowColumn(batch.fields[field].type)
    return new LineWriter(batch, measurement, [...tags, { name: SENSOR_TAG, value: name }, ...row], [{ ...value, field }])
  })
}
