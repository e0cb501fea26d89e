import { formatTime } from './time.js'

/** More of the fields are counted. */
const SHOWN_FIELDS = 3
const MAX_TEXT = 20
const SIGNIFICANT_DIGITS = 6

/**
 * A batch in a line, for the debug sidebar: "temperature = 24.1 °C @ 08:00:00.123 (+9 rows)". The time is UTC, as everywhere.
 * @param {import('./batch.js').Batch} batch
 */
export function headline (batch) {
  const { rows, fields, time } = batch
  if (rows === 0) return 'no rows'
  const values = fields.flatMap(({ name, unit }, field) => {
    const value = batch.value(field, 0)
    return value === undefined ? [] : [`${name} = ${shown(value)}${unit ? ` ${unit}` : ''}`]
  })
  const more = values.length > SHOWN_FIELDS ? [`+${values.length - SHOWN_FIELDS} fields`] : []
  const first = values.length > 0 ? [...values.slice(0, SHOWN_FIELDS), ...more].join(', ') : 'no values'
  const others = rows > 1 ? ` (+${rows - 1} ${rows === 2 ? 'row' : 'rows'})` : ''
  return `${first} @ ${formatTime(time[0]).slice('2026-01-01T'.length, -'456789Z'.length)}${others}`
}

/** @param {unknown} value */
function shown (value) {
  if (typeof value === 'number' && Number.isFinite(value)) return String(Number(value.toPrecision(SIGNIFICANT_DIGITS)))
  if (value instanceof Uint8Array) return `${value.length} bytes`
  const text = String(value)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}
