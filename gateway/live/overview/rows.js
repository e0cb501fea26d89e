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

/** With the tags and fields of the newest batch. @param {Batch[]} batches  oldest first @param {number} count @returns {LastRows|null} */
export function lastRows (batches, count) {
  const newest = batches.at(-1)
  if (!newest) return null
  const tags = Object.keys(newest.tags)
  const fields = newest.fields.slice(0, MAX_FIELDS)
  const places = batches.toReversed().flatMap(batch => {
    return Array.from({ length: Math.min(count, batch.rows) }, (_, i) => ({ batch, row: batch.rows - 1 - i }))
  })
  const rows = places.slice(0, count).map(({ batch, row }) => {
    const its = batch.tagsAt(row)
    const value = (/** @type {string} */ name) => batch.value(batch.fields.findIndex(field => field.name === name), row)
    const has = new Set(batch.fields.map(({ name }) => name))
    return {
      time: String(batch.time[row]),
      values: [...tags.map(tag => plain(its[tag])), ...fields.map(({ name }) => has.has(name) ? plain(value(name)) : null)]
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
