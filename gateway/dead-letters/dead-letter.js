import { randomUUID } from 'node:crypto'
import { Batch, COLUMN_TYPES, identityKey } from '../batch/batch.js'
import { SluiceError, describe } from '../base/errors.js'

/**
 * A row that a database refused for good, with all that is needed to store it later. Plain JSON, so that anything can read it.
 *
 * @typedef {import('../batch/batch.js').Field} Field
 * @typedef {{identity: import('../batch/batch.js').Identity|null, row: number}} Origin  the identity of a row's batch, and its number there
 * @typedef {object} DeadLetter
 * @property {string} key  gateway/source/epoch/seq/row, or a random one where the batch had no identity
 * @property {string} failedAt  ISO 8601
 * @property {{code: string|null, text: string}} reason
 * @property {import('../batch/batch.js').Identity|null} identity  of its batch
 * @property {number} row  in its batch
 * @property {Origin} [first]  of one that was replayed and refused again
 * @property {string} source
 * @property {string} time  nanoseconds since 1970 UTC
 * @property {Record<string, string>} tags
 * @property {number} [ordinal]  of a row that is not the first with its tags and time
 * @property {Field[]} fields
 * @property {(number|string|boolean|null)[]} values  one per field, null where missing; int64 in decimals, bytes in base64,
 *   and of floats NaN, Infinity, -Infinity and -0 as text
 * @property {number} [truncatedFrom]  of a value of which only the beginning was kept: how long it was
 */

/**
 * @param {Batch} batch
 * @param {number} row
 * @param {unknown} error  why it was refused
 * @returns {DeadLetter}
 */
export function deadLetter (batch, row, error) {
  const { identity, source, time, fields } = batch
  const code = error instanceof Error ? /** @type {{code?: unknown}} */ (error).code : undefined
  return {
    key: identity ? `${identityKey(identity)}/${row}` : randomUUID(),
    failedAt: new Date().toISOString(),
    reason: { code: code === undefined ? null : String(code), text: describe(error) },
    ...originOf(identity, row),
    source,
    time: String(time[row]),
    tags: batch.tagsAt(row),
    ...batch.ordinals?.[row] && { ordinal: batch.ordinals[row] },
    fields,
    values: fields.map((_, f) => toJson(batch.value(f, row)))
  }
}

/**
 * Batches of rows again, without identity: what stores them gives them a new one. Letters of the same source, tags and fields that follow
 * one another share one.
 * @param {DeadLetter[]} letters
 * @returns {Generator<{batch: Batch, keys: string[], origins: Origin[]}, void, void>} `origins`: what each row was at first. Throws
 *   SLUICE_DEAD_LETTER_TRUNCATED after the others, where a letter has only the beginning of its value
 */
export function * toBatches (letters) {
  const truncated = letters.filter(isTruncated)
  /** @type {DeadLetter[][]} */
  const runs = []
  let shape = ''
  for (const letter of letters) {
    if (isTruncated(letter)) continue
    const itsShape = JSON.stringify([letter.source, letter.tags, letter.fields])
    if (itsShape !== shape) runs.push([])
    shape = itsShape
    runs[runs.length - 1].push(letter)
  }
  for (const run of runs) {
    const origins = run.map(({ identity, row, first }) => first ?? { identity, row })
    yield { batch: toBatch(run), keys: run.map(({ key }) => key), origins }
  }
  if (truncated.length === 0) return
  const [{ key, truncatedFrom }] = truncated
  const more = truncated.length > 1 ? `, and ${truncated.length - 1} more` : ''
  throw new SluiceError(
    'SLUICE_DEAD_LETTER_TRUNCATED',
    `Dead letter ${key} has only the beginning of a value of ${truncatedFrom} characters, and cannot be replayed${more}.`,
    { fix: 'Have it sent again, once its sender is corrected.' }
  )
}

/** @param {import('../batch/batch.js').Identity|null} identity @param {number} row @returns {Pick<DeadLetter, 'identity'|'row'|'first'>} */
function originOf (identity, row) {
  if (!identity?.replayOf) return { identity, row }
  const { replayOf, ...its } = identity
  return { identity: its, row, first: replayOf[row] }
}

/** @param {DeadLetter} letter */
function isTruncated ({ truncatedFrom }) {
  return truncatedFrom !== undefined
}

/** @param {DeadLetter[]} letters  of one shape */
function toBatch (letters) {
  const [{ source, tags, fields }] = letters
  return new Batch({
    source,
    tags,
    ordinals: letters.some(({ ordinal }) => ordinal) ? Int32Array.from(letters, ({ ordinal = 0 }) => ordinal) : null,
    fields,
    time: BigInt64Array.from(letters, ({ time }) => BigInt(time)),
    columns: fields.map(({ type }, f) => {
      const column = new (/** @type {any} */ (COLUMN_TYPES[type]))(letters.length)
      letters.forEach(({ values }, row) => { column[row] = fromJson[type](values[f]) })
      return column
    }),
    validity: fields.map((_, f) => letters.some(({ values }) => values[f] === null)
      ? Uint8Array.from(letters, ({ values }) => values[f] === null ? 0 : 1)
      : null)
  })
}

/** @param {unknown} value */
function toJson (value) {
  if (value === undefined) return null
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
  if (Object.is(value, -0)) return '-0'
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return /** @type {number|string|boolean} */ (value)
}

/**
 * What stands for a missing value in a column does not matter, but it must be of the column's type.
 * @type {Record<import('../batch/batch.js').FieldType, (value: any) => unknown>}
 */
const fromJson = {
  float64: Number,
  float32: Number,
  int64: value => BigInt(value ?? 0),
  int32: Number,
  int16: Number,
  uint16: Number,
  bool: Number,
  string: value => value ?? '',
  bytes: value => new Uint8Array(Buffer.from(value ?? '', 'base64'))
}
