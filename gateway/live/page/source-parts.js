import { counted, text } from './text.js'
import { duration } from '../../stats/format.js'
import { counterTable } from './counters.js'
import { element } from './dom.js'
import { Facts } from './facts.js'
import { swatch } from './marks.js'
import { sinkHref } from './sinks.js'
import { ageText, plain, rateText } from './sources.js'

/**
 * @typedef {import('../overview/detail.js').SourceDetail} SourceDetail
 * @typedef {import('./plant.js').Plant} Plant
 */

/** What the page of a source shows. @param {SourceDetail} found @param {Plant} plant @param {string} key @returns {HTMLElement[]} */
export function sourceParts (found, plant, key) {
  const row = plant.source(key)
  const facts = new Facts(text('detail.now'))
  facts.show([
    [text('source.in'), `${rateText(row?.sentRate ?? null)} (${found.rows === null ? '–' : counted(found.rows)})`],
    [text('source.staged'), `${rateText(row?.stagedRate ?? null)} (${found.staged ? counted(found.staged.rows) : '–'})`],
    [text('source.latency'), row?.p99 == null ? '–' : duration(row.p99)],
    [text('detail.lastRow'), row ? ageText(row) : '–']
  ])
  const parts = [
    facts.node,
    storedTable(found, plant, key),
    lastTable(found),
    found.sent && counterTable(text('detail.sent'), found.sent, 'sent'),
    counterTable(text('detail.device'), found.gauge, 'device'),
    found.staged && counterTable(text('detail.staged'), found.staged, 'staged')
  ]
  return parts.flatMap(part => part ? [part] : [])
}

/** @param {SourceDetail} found @param {Plant} plant @param {string} key */
function storedTable ({ sinks }, plant, key) {
  const rates = plant.source(key)?.storedRates ?? []
  const heads = ['sink.name', 'detail.rate', 'list.stored', 'list.inFlight', 'stored.deadLetters', 'stored.lost']
  const figure = (/** @type {number|null} */ rows) => element('td', { class: 'figure' }, rows === null ? '–' : counted(rows))
  const lines = sinks.map(sink => {
    const at = plant.sinks.findIndex(({ id }) => id === sink.id)
    const isAway = plant.sinks[at]?.level === 'problem'
    const name = element('a', { href: sinkHref(sink) }, sink.name)
    return element('tr', {},
      element('th', { scope: 'row' }, swatch(plant.sinks[at]?.colour ?? 0), ' ', name),
      element('td', { class: isAway ? 'figure bad' : 'figure' }, isAway ? text('detail.stopped') : rateText(rates[at] ?? null)),
      figure(sink.stored), figure(sink.inFlight), figure(sink.deadLetters), figure(sink.lost))
  })
  return card(text('detail.stored'), heads.map(head => text(head)), lines)
}

/** @param {SourceDetail} found */
function lastTable ({ last }) {
  if (!last) {
    const none = element('p', { class: 'dim' }, text('detail.noRows'))
    return element('section', { class: 'card' }, element('h2', {}, text('detail.last')), none)
  }
  const heads = [text('detail.time'), ...last.fields.map(({ name, unit }) => unit ? `${name} (${unit})` : name)]
  const lines = last.rows.map(({ time, values }) => element('tr', {},
    element('td', { class: 'dim' }, exact(time)), ...values.map(value => element('td', { class: 'figure' }, plain(value)))))
  return card(text('detail.last'), heads, lines, 'last-rows')
}

/** The time of day to the microsecond. @param {string} nanoseconds */
function exact (nanoseconds) {
  const time = new Date(Number(BigInt(nanoseconds) / 1_000_000n))
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0')
  const fraction = String(BigInt(nanoseconds) % 1_000_000_000n).padStart(9, '0').slice(0, 6)
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${fraction}`
}

/** @param {string} title @param {string[]} heads @param {HTMLElement[]} lines @param {string} [className] */
function card (title, heads, lines, className = '') {
  const head = element('tr', {}, ...heads.map((words, i) => element('th', { scope: 'col', class: i > 0 ? 'figure' : '' }, words)))
  const table = element('table', { class: 'plain' }, element('thead', {}, head), element('tbody', {}, ...lines))
  return element('section', { class: `card ${className}` }, element('h2', {}, title),
    element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, table))
}
