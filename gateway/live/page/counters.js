import { duration, measure, quantity } from '../../stats/format.js'
import { element } from './dom.js'
import { counted, hasText, text } from './text.js'
import { clock, lasting } from './times.js'

/** @typedef {import('../../stats/reader.js').Gauge} Gauge */

/**
 * A table of counts, each with its unit and what it means. Those that say nothing are left out.
 * @param {string} title
 * @param {Record<string, number|string|boolean|null>} counts
 * @param {string} kind  of its texts
 */
export function counterTable (title, counts, kind) {
  const lines = Object.entries(counts).filter(([key]) => hasText(`${kind}.${key}`)).map(([key, value]) => element('tr', {},
    element('th', { scope: 'row' }, text(`${kind}.${key}`)),
    element('td', { class: 'figure' }, valueText(key, value, hasText(`${kind}.${key}.unit`) ? text(`${kind}.${key}.unit`) : '')),
    element('td', { class: 'dim' }, text(`${kind}.${key}.help`))
  ))
  const table = element('table', { class: 'plain counters' }, element('tbody', {}, ...lines))
  return lines.length > 0 && element('section', { class: 'card' }, element('h2', {}, title), table)
}

/** @param {string} key @param {string|number|boolean|null} value @param {string} unit */
function valueText (key, value, unit) {
  if (value === null || value === '') return '–'
  if (typeof value === 'boolean') return text(value ? 'yes' : 'no')
  if (typeof value === 'string') return value
  if (/sinceMs$/i.test(key)) return clock(value)
  if (/bytes$/i.test(key)) return measure(value, 'B')
  if (/Ms$/.test(key)) return duration(value)
  if (/seconds/i.test(key)) return lasting(value * 1000)
  const figure = Number.isInteger(value) ? counted(value) : quantity(value)
  return unit ? `${figure} ${unit}` : figure
}
