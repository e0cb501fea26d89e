import { duration } from '../../stats/format.js'
import { counterTable } from './counters.js'
import { element } from './dom.js'
import { balanceLine, Facts } from './facts.js'
import { rateText } from './sources.js'
import { counted, text } from './text.js'
import { clock } from './times.js'

/**
 * @typedef {import('../overview/detail.js').SinkDetail} SinkDetail
 * @typedef {import('./plant.js').SinkRow} SinkRow
 */

/** What is counted of writes means nothing before the first. */
const OF_WRITES = ['retries', 'duplicates', 'errors', 'batches']

/** What the page of a sink shows. @param {SinkDetail} found @param {SinkRow|undefined} row @returns {HTMLElement[]} */
export function sinkParts (found, row) {
  const { latency, writes: { stored: write }, gauge, balance } = found
  const wasReached = row?.wasReached ?? true
  const totals = wasReached ? found.totals : { ...found.totals, ...Object.fromEntries(OF_WRITES.map(name => [name, null])) }
  const facts = new Facts(text('detail.now'))
  facts.show([
    [text('sink.rate'), rateText(row?.rate ?? null)],
    [text('sink.waiting'), counted(row?.waiting ?? 0)],
    [text('detail.latency'), latency ? `${duration(latency.p50)} · ${duration(latency.p99)} · ${duration(latency.max)}` : '–'],
    [text('detail.write'), write ? `${duration(write.p50 / 1000)} · ${duration(write.p99 / 1000)} · ${duration(write.max / 1000)}` : '–'],
    [text('detail.reached'), text(gauge.connected === true ? 'yes' : wasReached ? 'no' : 'detail.never')],
    [text('detail.retrying'), typeof gauge.retryingSinceMs === 'number' ? clock(gauge.retryingSinceMs) : '–']
  ])
  const problem = gauge.problem || gauge.lastError
  const parts = [
    problem && card(text('detail.problem'), element('p', { class: 'bad' }, String(problem))),
    facts.node,
    balance && card(text('balance.title'), balanceLine(balance)),
    counterTable(text('detail.written'), totals, 'stored'),
    counterTable(text('detail.waits'), gauge, 'waits')
  ]
  return parts.flatMap(part => part ? [part] : [])
}

/** @param {string} title @param {HTMLElement} content */
function card (title, content) { return element('section', { class: 'card' }, element('h2', {}, title), content) }
