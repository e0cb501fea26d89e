/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {number|string|boolean|null} Plain
 * @typedef {{fields: {name: string, unit: string}[], rows: {time: string, values: Plain[]}[]}} LastRows  newest first; `time`: nanoseconds
 *   since 1970, which JSON has no number for
 */

const MAX_TEXT = 60
/** Wider ones would be a page of their own. */
const MAX_FIELDS = 30

/** The first field with a value in the last row. @param {Batch} batch @returns {[name: string, value: Plain, unit: string]|null} */
export function lastValue (batch) {
  const row = batch.rows - 1
  for (const [i, { name, unit = '' }] of batch.fields.entries()) {
    const value = plain(batch.value(i, row))
    if (value !== null) return [name, value, unit]
  }
  return null
}

/** @param {Batch} batch @param {number} count @returns {LastRows} */
export function lastRows (batch, count) {
  const tags = Object.keys(batch.tags)
  const fields = batch.fields.slice(0, MAX_FIELDS)
  const rows = Array.from({ length: Math.min(count, batch.rows) }, (_, i) => {
    const row = batch.rows - 1 - i
    const its = batch.tagsAt(row)
    return {
      time: String(batch.time[row]),
      values: [...tags.map(tag => plain(its[tag])), ...fields.map((_field, f) => plain(batch.value(f, row)))]
    }
  })
  return { fields: [...tags.map(name => ({ name, unit: '' })), ...fields.map(({ name, unit = '' }) => ({ name, unit }))], rows }
}

/** As JSON has it, and not too long. @param {unknown} value @returns {Plain} */
function plain (value) {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return rounded(value)
  if (value instanceof Uint8Array) return `0x${Buffer.from(value.subarray(0, MAX_TEXT / 2)).toString('hex')}`
  const text = String(value)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

/** A float of 32 bits has no more digits than these, and nobody reads more. @param {number} value */
function rounded (value) {
  if (!Number.isFinite(value)) return String(value)
  return Number.isInteger(value) ? value : Number(value.toPrecision(7))
}
