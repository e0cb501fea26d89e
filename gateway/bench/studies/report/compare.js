import { SluiceError } from '../../../base/errors.js'
import { blockMarkup } from './block.js'
import { document } from './document.js'
import { plain, sectionLines } from './markdown.js'
import { html } from './markup.js'
import { merged } from './merge.js'
import { withoutSecrets } from '../../../base/secrets.js'
import { summary } from './summary.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {{name: string, result: StudyResult, sections: Section[]}} Report  the name says whose it is, such as the host
 */

/**
 * Reports of one study beside each other: what each was measured on, then the figures of all beside the paper's.
 * @param {Report[]} reports  two or more
 * @returns {{page: string, markdown: string}}
 */
export function compare (reports) {
  const studies = new Set(reports.map(({ result }) => result.study))
  if (studies.size !== 1) {
    throw new SluiceError('SLUICE_BENCH_COMPARE', `Reports of different studies cannot be compared: ${[...studies].join(', ')}.`, {
      fix: 'Name reports of one study.'
    })
  }
  const clean = withoutSecrets(reports)
  const [{ result: { title, paper } }] = clean
  const limited = clean.flatMap(({ result }, i) => result.limited ? [`${letter(i)}: ${result.limited}`] : [])
  const circumstances = { title: 'What was compared', blocks: [table(clean)] }
  const sections = merged(clean.map((report, i) => ({ name: letter(i), sections: report.sections })))
  const heading = `${title}: ${clean.map((_, i) => letter(i)).join(' and ')} compared`
  return {
    page: document({
      title: heading,
      head: html`${limited.map(text => html`<p class="limited">${text}</p>
`)}<h1>${heading}</h1>
<p class="source">${paper}</p>
${circumstances.blocks.map(blockMarkup)}`,
      sections
    }),
    markdown: [
      ...limited.map(text => `**${plain(text)}**`), `# ${plain(heading)}`, plain(paper), ...sectionLines([circumstances, ...sections])
    ].join('\n\n') + '\n'
  }
}

/** @param {Report[]} reports @returns {TableBlock} */
function table (reports) {
  const facts = reports.map(({ result }) => {
    const { state, facts: counted, environment, cut, missing } = summary(result)
    return new Map([
      ['State', state.text], ...counted, ...environment,
      ['Less than in the paper', cut.join(' ')],
      ['Not measured', missing.map(({ state: kind, reason, cells }) => `${kind}: ${reason} (${cells.join(', ')})`).join(' ')]
    ])
  })
  const labels = [...new Set(facts.flatMap(each => [...each.keys()]))]
  return {
    kind: 'table',
    caption: 'What was compared',
    columns: reports.map(({ name }, i) => ({ title: `${letter(i)}: ${name}` })),
    rows: labels.map(label => ({ label, figures: facts.map(each => ({ value: each.get(label) || null })) }))
      .filter(({ figures }) => figures.some(({ value }) => value !== null))
  }
}

/** @param {number} i */
function letter (i) {
  return String.fromCharCode(65 + i)
}
