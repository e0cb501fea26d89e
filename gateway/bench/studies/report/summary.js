import { moment, span } from './times.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 *
 * @typedef {object} Summary  what a reader has to know before any figure
 * @property {{isComplete: boolean, text: string}} state
 * @property {[label: string, text: string][]} facts  when, how long, how much
 * @property {[label: string, text: string][]} environment
 * @property {string[]} cut
 * @property {{state: 'failed'|'absent', reason: string, cells: string[]}[]} missing
 * @property {{cells: string[], text: string}[]} notes  of single cells
 */

/** @param {StudyResult} result @returns {Summary} */
export function summary (result) {
  const { startedMs, endedMs, isComplete, options } = result
  return {
    state: { isComplete, text: isComplete ? 'Complete' : 'Partial: it was stopped, or still goes on' },
    facts: [
      ['Started', moment(startedMs)],
      ['Took', span(endedMs - startedMs)],
      ['Cells', counts(result)],
      ['Size', options.isFull ? 'sizes and durations of the paper' : 'cut to a budget of minutes'],
      ...chosen(options.sweep)
    ],
    environment: Object.entries(result.environment),
    cut: result.cut,
    missing: missing(result),
    notes: notes(result)
  }
}

/** @param {StudyResult} result */
function counts ({ cells, isComplete }) {
  const count = (/** @type {string} */ state) => cells.filter(cell => cell.state === state).length
  const others = ['failed', 'absent'].map(state => [count(state), state]).filter(([number]) => number !== 0)
  const measured = isComplete ? `${count('done')} of ${cells.length} measured` : `${count('done')} measured so far`
  return [measured, ...others.map(([number, state]) => `${number} ${state}`)].join(', ')
}

/** @param {Record<string, unknown>} sweep @returns {[string, string][]} */
function chosen (sweep) {
  const parts = Object.entries(sweep).map(([name, value]) => `${words(name)}: ${[value].flat().map(written).join(', ')}`)
  return parts.length > 0 ? [['Chosen', parts.join('; ')]] : []
}

/** @param {unknown} value */
function written (value) {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** "batchSizes" → "batch sizes". @param {string} name */
function words (name) {
  return name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
}

/** Alike ones together. @param {StudyResult} result @returns {Summary['missing']} */
function missing ({ cells }) {
  /** @type {Summary['missing']} */
  const found = []
  for (const cell of cells) {
    if (cell.state === 'done') continue
    const { state, reason, label } = cell
    const alike = found.find(each => each.state === state && each.reason === reason)
    if (alike) alike.cells.push(label)
    else found.push({ state, reason, cells: [label] })
  }
  return found.sort((a, b) => b.state.localeCompare(a.state)) // what failed is news
}

/** @param {StudyResult} result */
function notes ({ cells }) {
  /** @type {Map<string, string[]>} */
  const found = new Map()
  for (const cell of cells) {
    for (const text of cell.state === 'done' ? cell.notes ?? [] : []) found.set(text, [...found.get(text) ?? [], cell.label])
  }
  return [...found].map(([text, labels]) => ({ text, cells: labels }))
}
