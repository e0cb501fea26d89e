/**
 * Dates as people write them: 31.12.2024 13:45:10, 31/12/2024, 12/31/2024. With points the day comes first, unless the month is said to;
 * with other signs either may.
 *
 * @typedef {'day-first'|'month-first'} DateOrder
 */

const LOCAL = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,? (\d{1,2}:.+))?$/

/**
 * @param {string} text
 * @param {DateOrder} [order]
 * @returns {string|undefined} in ISO 8601 where it is such a date, otherwise as it is; undefined where the order would be a guess
 */
export function isoDate (text, order) {
  const parts = LOCAL.exec(text)
  if (!parts) return text
  const [, first, sign, second, year, clock] = parts
  if (!order && sign !== '.') return undefined
  const [day, month] = order === 'month-first' ? [second, first] : [first, second]
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${clock ? ` ${clock.replace(/^\d:/, '0$&')}` : ''}`
}

/**
 * What comes first in all of these dates that leave it open: by a number over 12, which is no month.
 * @param {string[]} texts
 * @returns {DateOrder|'unknown'|undefined} undefined where no date leaves it open
 */
export function dateOrder (texts) {
  const open = texts.flatMap(text => {
    const parts = LOCAL.exec(text)
    return parts && parts[2] !== '.' ? [parts] : []
  })
  if (open.length === 0) return undefined
  const hasDay = (/** @type {number} */ part) => open.some(parts => Number(parts[part]) > 12)
  const [dayFirst, monthFirst] = [hasDay(1), hasDay(3)]
  if (dayFirst === monthFirst) return 'unknown'
  return dayFirst ? 'day-first' : 'month-first'
}
