import { duration, measure, quantity } from '../../stats/format.js'

/**
 * @typedef {import('../../stats/reader.js').Report} Report
 * @typedef {import('../../stats/reader.js').MeterReport} MeterReport
 * @typedef {import('../../stats/ledger.js').SinkBalance} SinkBalance
 * @typedef {import('./history.js').Rates} Rates
 * @typedef {{title: string, cell: (meter: MeterReport, rates: Rates) => string, bad?: (meter: MeterReport) => boolean}} Column
 */

const whole = new Intl.NumberFormat('en-GB')

/** @type {Column[]} */
const FLOW_COLUMNS = [
  { title: 'rows/s', cell: (meter, rates) => rate(rates.of(meter, 'rows')) },
  { title: 'values/s', cell: (meter, rates) => rate(rates.of(meter, 'values')) },
  { title: 'rows', cell: ({ totals }) => whole.format(totals.rows) }
]

/** @type {Column[]} */
const SOURCE_COLUMNS = [
  { title: '', cell: ({ stage }) => stage === 'source' ? 'source' : 'staged' },
  ...FLOW_COLUMNS,
  latency('latency p99', 'p99'),
  count('late', 'late'),
  count('missed', 'missed'),
  count('dropped', 'dropped'),
  count('errors', 'errors')
]

/** @type {Column[]} */
const SINK_COLUMNS = [
  ...FLOW_COLUMNS.slice(0, 2),
  { title: 'stored rows', cell: ({ totals }) => whole.format(totals.rows) },
  latency('latency p50', 'p50'),
  latency('p99', 'p99'),
  latency('max', 'max'),
  { title: 'duplicates refused', cell: ({ totals }) => whole.format(totals.duplicates) },
  count('dead letters', 'deadLetters'),
  count('lost', 'lost'),
  count('retries', 'retries'),
  { title: 'expired', cell: ({ totals }) => whole.format(totals.expired) }
]

/** @param {string} title @param {'p50'|'p99'|'max'} part @returns {Column} */
function latency (title, part) {
  return { title, cell: ({ latencyMs: { overall } }) => overall ? duration(overall[part]) : '–' }
}

/** @param {number|null} perSecond */
function rate (perSecond) {
  return perSecond === null ? '–' : quantity(perSecond)
}

/** @param {string} title @param {import('../../stats/meter.js').Counter} counter @returns {Column} */
function count (title, counter) {
  return { title, cell: ({ totals }) => whole.format(totals[counter]), bad: ({ totals }) => totals[counter] > 0 }
}

/** @param {HTMLTableElement} table @param {MeterReport[]} meters @param {Rates} rates */
export function showSources (table, meters, rates) {
  showMeters(table, meters.filter(({ stage }) => stage !== 'sink'), SOURCE_COLUMNS, rates, 'No source has given anything yet.')
}

/** @param {HTMLTableElement} table @param {MeterReport[]} meters @param {Rates} rates */
export function showSinks (table, meters, rates) {
  showMeters(table, meters.filter(({ stage }) => stage === 'sink'), SINK_COLUMNS, rates, 'No sink is open yet.')
}

/** @param {HTMLTableElement} table @param {MeterReport[]} meters @param {Column[]} columns @param {Rates} rates @param {string} empty */
function showMeters (table, meters, columns, rates, empty) {
  if (meters.length === 0) {
    table.replaceChildren(row('td', [{ text: empty }]))
    return
  }
  table.replaceChildren(
    row('th', [{ text: 'name' }, ...columns.map(({ title }) => ({ text: title }))]),
    ...meters.map(meter =>
      row('td', [{ text: meter.name }, ...columns.map(({ cell, bad }) => ({ text: cell(meter, rates), bad: bad?.(meter) }))])
    )
  )
}

/** @param {'td'|'th'} kind @param {{text: string, bad?: boolean}[]} cells */
function row (kind, cells) {
  const line = document.createElement('tr')
  line.append(...cells.map(({ text, bad }) => element(kind, text, bad ? 'bad' : '')))
  return line
}

/** The equation the gateway stands for, once for every sink. @param {HTMLElement} parent @param {SinkBalance[]} ledger */
export function showLedger (parent, ledger) {
  parent.replaceChildren(...ledger.map(({ sink, produced, beforeItBegan, stored, deadLetters, settled, parked, lost, inFlight }) => {
    const card = element('div', '', `card balance ${lost > 0 ? 'lost' : deadLetters > 0 ? 'warned' : 'whole'}`)
    const terms = element('div', '', 'terms')
    terms.append(
      term('', produced, 'produced'),
      term('=', stored, 'stored'),
      term('+', deadLetters, 'dead letters', deadLetters > 0),
      ...beforeItBegan > 0 ? [term('+', beforeItBegan, 'before it began')] : [],
      ...settled > 0 ? [term('+', settled, 'settled by the flow')] : [],
      ...parked > 0 ? [term('+', parked, 'parked', true)] : [],
      term('+', lost, 'lost', lost > 0),
      term('+', inFlight, 'in flight')
    )
    card.append(element('h2', sink), terms)
    return card
  }))
}

/** @param {string} sign @param {number} rows @param {string} label @param {boolean} [bad] */
function term (sign, rows, label, bad = false) {
  const part = element('div', '', bad ? 'term bad' : 'term')
  part.append(element('i', sign), element('b', whole.format(rows)), element('span', label))
  return part
}

/** @param {HTMLElement} parent @param {Report['gauges']} gauges */
export function showGauges (parent, gauges) {
  parent.replaceChildren(...Object.entries(gauges).map(([name, gauge]) => {
    const group = element('div', '', 'gauge')
    const list = document.createElement('dl')
    for (const [key, value] of Object.entries(gauge)) list.append(element('dt', words(key)), element('dd', gaugeText(key, value)))
    group.append(element('h3', name), list)
    return group
  }))
}

/** "oldestMs" → "oldest". @param {string} key  its unit is shown with the value */
function words (key) {
  const spaced = key.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return spaced.replace(/ (ms|seconds|percent)$/, '')
}

/** @param {string} key @param {string|number|boolean|null} value */
function gaugeText (key, value) {
  if (value === null || value === '') return '–'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return value
  if (/bytes$/i.test(key)) return measure(value, 'B')
  if (/Ms$/.test(key)) return duration(value)
  if (/seconds$/i.test(key)) return duration(value * 1000)
  if (/percent$/i.test(key)) return `${value.toFixed(1)} %`
  return Number.isInteger(value) ? whole.format(value) : quantity(value)
}

/** @param {string} tag @param {string} text @param {string} [className] */
function element (tag, text, className = '') {
  const made = document.createElement(tag)
  made.textContent = text
  if (className.trim()) made.className = className
  return made
}
