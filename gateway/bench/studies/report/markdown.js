import { figure, NOTHING, ratio } from './numbers.js'
import { Reasons } from './reasons.js'
import { withoutSecrets } from '../../../base/secrets.js'
import { summary } from './summary.js'
import { hasPublished, isText } from './table.js'
import { tabulate } from './tabulate.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('../study.js').Block} Block
 * @typedef {import('../study.js').Figure} Figure
 */

/** A report for where there are no pages: charts are tables. @param {StudyResult} result @param {Section[]} sections @returns {string} */
export function markdown (result, sections) {
  const clean = withoutSecrets({ result, sections })
  return [...head(clean.result), ...sectionLines(clean.sections)].join('\n\n') + '\n'
}

/** Paragraphs. @param {Section[]} sections */
export function sectionLines (sections) {
  return sections.flatMap(({ title, text = [], blocks }) => [`## ${plain(title)}`, ...text.map(plain), ...blocks.flatMap(blockLines)])
}

/** @param {StudyResult} result */
function head (result) {
  const { state, facts, environment, cut, missing, notes } = summary(result)
  return [
    ...result.limited ? [`**${plain(result.limited)}**`] : [],
    `# ${plain(result.title)}`,
    plain(result.paper),
    `**${state.text}**`,
    facts.map(([label, text]) => `- ${label}: ${plain(text)}`).join('\n'),
    ...list('Measured on', environment.map(([label, text]) => `${plain(label)}: ${plain(text)}`)),
    ...list('Less than in the paper', cut.map(plain)),
    ...list('Not measured', missing.map(({ state: kind, reason, cells }) => `**${kind}**: ${plain(reason)} (${plain(cells.join(' · '))})`)),
    ...list('Of single cells', notes.map(({ text, cells }) => `${plain(text)} (${plain(cells.join(' · '))})`))
  ]
}

/** @param {string} title @param {string[]} items */
function list (title, items) {
  return items.length > 0 ? [`**${title}**`, items.map(item => `- ${item}`).join('\n')] : []
}

/** @param {Block} block @returns {string[]} */
function blockLines (block) {
  const table = tabulate(block)
  const reasons = new Reasons()
  const heads = table.columns.map(({ title, unit }) => plain(unit ? `${title}, ${unit}` : title))
  const sides = columnsOf(table).map(figures => isText(figures) ? ':---' : '---:')
  const rows = table.rows.map(({ label, figures }) =>
    line([plain(label), ...table.columns.map(({ digits }, i) => cell(figures[i] ?? { value: null }, digits, reasons))]))
  const lines = [line([plain(table.heading ?? '') || ' ', ...heads]), line([':---', ...sides]), ...rows]
  const key = hasPublished(table) ? ' In brackets: the paper’s figure, and how many times it ours is.' : ''
  return [
    `**${plain(table.caption)}**${key}`,
    lines.join('\n'),
    ...reasons.list().map(({ letter, text }) => `${letter}: ${plain(text)}`),
    ...(table.notes ?? []).map(plain)
  ]
}

/** @param {import('../study.js').TableBlock} table */
function columnsOf ({ columns, rows }) {
  return columns.map((_, i) => rows.map(({ figures }) => figures[i]))
}

/** @param {string[]} cells */
function line (cells) {
  return `| ${cells.join(' | ')} |`
}

/** @param {Figure} each @param {number|undefined} digits @param {Reasons} reasons */
function cell ({ value, published, reason }, digits, reasons) {
  const letter = value === null ? reasons.note(reason) : null
  const ours = value === null ? [NOTHING, letter].filter(Boolean).join(' ') : plain(figure(value, digits))
  if (published === null || published === undefined) return ours
  return `${ours} (${[plain(figure(published, digits)), ratio(value, published)].filter(Boolean).join(', ')})`
}

/** A text that Markdown leaves as it is, on one line. @param {string} text */
export function plain (text) {
  return text.replace(/\s+/g, ' ').trim()
    .replace(/[\\`*<>[\]|~$]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|&(?=#?\w+;)/gu, '\\$&')
    .replace(/^(#+|[-+=])(?=\s|$|[-=+]+$)/, '\\$1')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2')
}
