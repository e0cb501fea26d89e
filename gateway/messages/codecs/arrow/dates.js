/**
 * Dates, as text: "2026-11-21", and with their time where they have one.
 *
 * @typedef {import('./columns.js').ColumnKind} ColumnKind
 */

const DAY_MS = 86_400_000
const MIDNIGHT = 'T00:00:00.000Z'
const IN_DAYS = 0

/** @param {import('./flatbuffer.js').Table|null} type @param {string} name @returns {ColumnKind} */
export function dateKind (type, name) {
  const isInDays = Boolean(type?.position(0)) && type?.int16(0) === IN_DAYS
  return {
    type: 'string',
    read (body, rows, valid) {
      const numbers = isInDays ? body.array(Int32Array, rows) : body.array(BigInt64Array, rows)
      return Array.from({ length: rows }, (_, row) => {
        if (valid && !valid[row]) return ''
        const date = new Date(Number(numbers[row]) * (isInDays ? DAY_MS : 1))
        if (!Number.isNaN(date.getTime())) return date.toISOString().replace(MIDNIGHT, '')
        body.refuse(row, name, numbers[row], `is no date in ${isInDays ? 'days' : 'milliseconds'} since 1970`)
        return ''
      })
    }
  }
}
