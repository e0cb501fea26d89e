import { columnsOf } from './columns.js'
import { CHANNELS } from './machine.js'
import { percentOfMost } from './score.js'

/**
 * The figures of the paper.
 *
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').BarsBlock} BarsBlock
 * @typedef {import('../study.js').LinesBlock} LinesBlock
 * @typedef {import('./outcomes.js').Outcome} Outcome
 * @typedef {import('./score.js').Costs} Costs
 */

const STEPS = ['t', 't1', 't2', 't3', 't4: start', 't5: end']

/**
 * Figures 4 and 5: each cost in percent of the most that any variant takes.
 * @param {string} caption @param {Outcome[]} outcomes @param {Record<string, Costs>} paper
 * @returns {BarsBlock}
 */
export function shares (caption, outcomes, paper) {
  const measured = outcomes.filter(({ cell }) => cell)
  const theirs = Object.values(paper)
  return {
    kind: 'bars',
    caption,
    unit: '% of the highest',
    series: measured.map(({ label }) => label),
    groups: columnsOf(paper).filter(({ cost }) => cost !== 'difficulty').map(({ cost, title }) => {
      const [ours, published] = [percentOfMost(measured.map(({ costs }) => costs), cost), percentOfMost(theirs, cost)]
      return {
        label: title,
        figures: measured.map(({ id }, i) => {
          return { value: rounded(ours[i]), published: rounded(published[Object.keys(paper).indexOf(id)] ?? null) }
        })
      }
    })
  }
}

/** @param {number|null} percent */
function rounded (percent) {
  return percent === null ? null : Number(percent.toFixed(1))
}

/** Figure 1: none where nothing was written. @param {StudyResult} result @returns {LinesBlock[]} */
export function simulated ({ cells }) {
  const series = seriesOf(cells, CHANNELS[0])
  if (!series) return []
  /** @param {string} caption @param {readonly string[]} names @returns {LinesBlock} */
  const block = (caption, names) => ({
    kind: 'lines',
    caption,
    unit: 'value',
    xTitle: 's',
    lines: names.map(label => ({ label, x: series[label].seconds, y: series[label].values }))
  })
  return [
    block('Figure 1, top: the machine’s angle in the simulated data', CHANNELS.slice(0, 1)),
    block('Figure 1, below: the four data channels', CHANNELS.slice(1))
  ]
}

/** Figure 3: none where nothing was read. @param {StudyResult} result @returns {LinesBlock[]} */
export function search ({ cells }) {
  const series = seriesOf(cells, 'search')
  if (!series) return []
  const { angle, search: { seconds, values } } = series
  return [{
    kind: 'lines',
    caption: 'Figure 3: how a cycle is found around a time t',
    unit: 'value',
    xTitle: 's after t',
    lines: [
      { label: 'angle', x: angle.seconds, y: angle.values },
      ...STEPS.map((label, i) => ({ label, x: [seconds[i]], y: [values[i]] }))
    ],
    notes: ['The first cycle that was read here.']
  }]
}

/** Of the first cell that has a series of that name. @param {StudyResult['cells']} cells @param {string} name */
function seriesOf (cells, name) {
  return cells.flatMap(cell => cell.state === 'done' && cell.series?.[name] ? [cell.series] : [])[0]
}
