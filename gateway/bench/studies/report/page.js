import { document } from './document.js'
import { html } from './markup.js'
import { withoutSecrets } from '../../../base/secrets.js'
import { summary } from './summary.js'
import { moment } from './times.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('./summary.js').Summary} Summary
 */

/** A report as one HTML file. @param {StudyResult} result @param {Section[]} sections @returns {string} */
export function page (result, sections) {
  const clean = withoutSecrets({ result, sections })
  return document({
    title: `${clean.result.title} – ${moment(clean.result.startedMs)}`,
    head: head(clean.result),
    sections: clean.sections
  })
}

/** @param {StudyResult} result */
function head (result) {
  const { state, facts, environment, cut, missing, notes } = summary(result)
  return html`${result.limited && html`<p class="limited">${result.limited}</p>
`}<h1>${result.title}</h1>
<p class="source">${result.paper}</p>
<p class="state ${state.isComplete ? 'complete' : 'partial'}">${state.text}</p>
<dl class="facts">${facts.map(pair)}</dl>
${environment.length > 0 && html`<h2 class="aside">Measured on</h2>
<dl class="environment">${environment.map(pair)}</dl>
`}${list('Less than in the paper', cut.map(text => html`${text}`))}${
  list('Not measured', missing.map(({ state: kind, reason, cells }) =>
    html`<span class="${kind}">${kind}</span> ${reason} ${labels(cells)}`))}${
  list('Of single cells', notes.map(({ text, cells }) => html`${text} ${labels(cells)}`))}`
}

/** A text of more characters has a line of its own. */
const LONG = 48

/** @param {[string, string]} pair */
function pair ([label, text]) {
  return html`<div${text.length > LONG && html` class="long"`}><dt>${label}</dt><dd>${text}</dd></div>`
}

/** @param {string} title @param {import('./markup.js').Markup[]} items */
function list (title, items) {
  return items.length > 0 && html`<h2 class="aside">${title}</h2>
<ul>${items.map(item => html`<li>${item}</li>`)}</ul>
`
}

/** @param {string[]} cells */
function labels (cells) {
  return html`<span class="cells">${cells.join(' · ')}</span>`
}
