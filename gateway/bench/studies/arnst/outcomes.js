import { inPaperUnits } from './costs.js'

/**
 * What became of each variant of the paper, and of others that were measured.
 *
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').DoneCell} DoneCell
 * @typedef {import('./score.js').Costs} Costs
 *
 * @typedef {object} Outcome
 * @property {string} id
 * @property {string} label  what was measured
 * @property {(Costs & {label: string, score: number})|undefined} published  undefined of one that the paper does not have
 * @property {DoneCell|undefined} cell
 * @property {Costs} costs  in the paper's units; none where it was not measured
 * @property {string} reason  why it was not
 */

/**
 * @param {StudyResult} result @param {'write'|'read'} work
 * @param {Record<string, Costs & {label: string, score: number}>} paper  by id
 * @returns {Outcome[]} the paper's first
 */
export function outcomesOf ({ cells }, work, paper) {
  const own = cells.filter(({ parameters }) => parameters.work === work)
  const ids = new Set([...Object.keys(paper), ...own.map(({ parameters }) => String(parameters.variant))])
  return [...ids].map(id => {
    const found = own.find(({ parameters }) => parameters.variant === id)
    const cell = found?.state === 'done' ? found : undefined
    const published = Object.hasOwn(paper, id) ? paper[id] : undefined
    return {
      id,
      label: labelOf(id, published?.label, cell?.version),
      published,
      cell,
      costs: cell ? inPaperUnits(cell.measures, published?.difficulty) : {},
      reason: found && 'reason' in found ? found.reason : 'It was not chosen.'
    }
  })
}

/** @param {Outcome[]} outcomes @returns {Outcome[]} those of the paper that were measured: what a score is of */
export function scored (outcomes) {
  return outcomes.filter(({ cell, published }) => cell && published)
}

/** "FerretDB individual (paper: MongoDB)". @param {string} id @param {string} [label]  the paper's @param {string} [version] */
function labelOf (id, label, version) {
  const product = /^\p{L}+/u.exec(version ?? '')?.[0]
  if (label === undefined) return product ? id.replace(/^[^-]+-/, `${product} `) : id
  const [theirs, ...how] = label.split(' ')
  return product === undefined || product === theirs ? label : `${[product, ...how].join(' ')} (paper: ${theirs})`
}
