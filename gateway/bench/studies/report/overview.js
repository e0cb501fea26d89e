import { document } from './document.js'
import { html } from './markup.js'
import { withoutSecrets } from '../../../base/secrets.js'
import { summary } from './summary.js'
import { moment, span } from './times.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {{result: StudyResult, link: string}} Linked
 */

/** A page that leads to the reports of several studies, which were measured one after the other. @param {Linked[]} reports */
export function overview (reports) {
  const clean = withoutSecrets(reports)
  const first = clean[0].result
  const title = `Studies measured again – ${moment(first.startedMs)}`
  const tookMs = clean.reduce((sum, { result: { startedMs, endedMs } }) => sum + endedMs - startedMs, 0)
  const limited = [...new Set(clean.map(({ result }) => result.limited).filter(Boolean))]
  return document({
    title,
    head: html`${limited.map(text => html`<p class="limited">${text}</p>
`)}<h1>Studies measured again</h1>
<p class="source">${moment(first.startedMs)}, ${span(tookMs)}</p>
${clean.map(entry)}<h2 class="aside">Measured on</h2>
<dl class="environment">${machine(first).map(([label, text]) => html`<div><dt>${label}</dt><dd>${text}</dd></div>`)}</dl>
`,
    sections: []
  })
}

/** @param {Linked} report */
function entry ({ result, link }) {
  const { state, facts } = summary(result)
  const parts = [state.text, ...['Cells', 'Took'].map(name => new Map(facts).get(name))]
  return html`<article class="study"><h2><a href="${link}">${result.title}</a></h2>
<p class="source">${result.paper}</p>
<p class="state ${state.isComplete ? 'complete' : 'partial'}">${parts.map(part => html`<span>${part}</span>`)}</p></article>
`
}

/** Without what each study says for itself. @param {StudyResult} result @returns {[string, string][]} */
function machine ({ environment }) {
  return Object.entries(environment).filter(([name]) => name !== 'Databases' && !name.startsWith('Settings of '))
}
