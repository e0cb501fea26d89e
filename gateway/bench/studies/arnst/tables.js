import { columnsOf } from './columns.js'
import { PACE } from './published.js'
import { WEIGHTS } from './score.js'

/**
 * Tables IV and V, and whether the variants kept pace, which the paper tells in its text.
 *
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {import('../study.js').Figure} Figure
 * @typedef {import('./outcomes.js').Outcome} Outcome
 * @typedef {import('./score.js').Costs} Costs
 */

/** Less than this share of the pace is not kept. */
const KEPT = 0.95
const UNREAD = 'It cannot be read here.'
const UNRATED = 'The paper does not rate it.'
/** By the paper's text. */
const TOO_SLOW = 'mongodb-individual'

/**
 * @param {string} caption @param {Outcome[]} outcomes
 * @param {Record<string, Costs>} paper @param {string[]} notes
 * @returns {TableBlock}
 */
export function costTable (caption, outcomes, paper, notes) {
  const costs = columnsOf(paper)
  return {
    kind: 'table',
    caption,
    columns: costs,
    rows: [
      ...outcomes.map(({ label, published, cell, costs: own, reason }) => ({
        label,
        figures: costs.map(({ cost }) => {
          if (cost === 'difficulty') return { value: published ? String(published.difficulty) : null, ...!published && { reason: UNRATED } }
          const value = own[cost] ?? null
          return { value, ...published && { published: published[cost] }, ...value === null && { reason: cell ? UNREAD : reason } }
        })
      })),
      { label: 'Weight', figures: costs.map(({ cost }) => ({ value: String(WEIGHTS[cost]) })) }
    ],
    notes
  }
}

/** @param {Outcome[]} outcomes @returns {TableBlock} */
export function writingPace (outcomes) {
  const rows = outcomes.map(outcome => row(outcome, ({ samplesPerSecond, commitsPerSecond, missedSamples, ...measures }) => [
    { value: samplesPerSecond, published: outcome.published && PACE.samplesPerSecond },
    { value: missedSamples },
    { value: commitsPerSecond, published: commitsOf(outcome) },
    ...milliseconds(measures.commitMedianMicroseconds, measures.commitP95Microseconds)
  ]))
  return {
    kind: 'table',
    caption: 'How well the writers kept pace with the machine',
    columns: [
      { title: 'Stored', unit: 'samples/s', digits: 0 },
      { title: 'Lost', unit: 'samples', digits: 0 },
      { title: 'Commits', unit: '1/s', digits: 1 },
      { title: 'Commit, median', unit: 'ms', digits: 1 },
      { title: 'Commit, 95 %', unit: 'ms', digits: 1 }
    ],
    rows,
    notes: ['The machine waits for nobody: what finds 1600 samples waiting is lost, as where the paper’s queue of 16 kB is full.']
  }
}

/** @param {Outcome[]} outcomes @returns {TableBlock} */
export function readingPace (outcomes) {
  const rows = outcomes.map(outcome => row(outcome, ({ cyclesPerSecond, cycles, cycleMedianMicroseconds, cycleP95Microseconds }) => [
    { value: cyclesPerSecond, published: outcome.id === TOO_SLOW ? '< 3' : outcome.published && PACE.cyclesPerSecond },
    { value: cycles },
    ...milliseconds(cycleMedianMicroseconds, cycleP95Microseconds)
  ]))
  return {
    kind: 'table',
    caption: 'How well the readers kept pace with the user',
    columns: [
      { title: 'Read', unit: 'cycles/s', digits: 2 },
      { title: 'Checked', unit: 'cycles', digits: 0 },
      { title: 'A cycle, median', unit: 'ms', digits: 1 },
      { title: 'A cycle, 95 %', unit: 'ms', digits: 1 }
    ],
    rows,
    notes: ['Each cycle, of the warm-up too, has the start, the end and the sums that the simulated data have: otherwise the cell fails.']
  }
}

/** @param {Outcome} outcome */
function commitsOf ({ published, cell }) {
  if (!published || !cell || cell.parameters.database === 'influxdb') return undefined
  return cell.parameters.layout === 'bulk' ? 1 : PACE.samplesPerSecond
}

/** @param {Outcome} outcome @param {(measures: Record<string, number>) => Figure[]} figuresOf */
function row ({ label, cell, reason }, figuresOf) {
  return { label, figures: cell ? figuresOf(cell.measures) : [{ value: null, reason }] }
}

/** @param {(number|undefined)[]} microseconds @returns {Figure[]} */
function milliseconds (...microseconds) {
  return microseconds.map(each => ({ value: each === undefined ? null : each / 1000 }))
}

/**
 * Which did less than was asked of them, and how much: what they cost is for that alone.
 * @param {Outcome[]} writers @param {Outcome[]} readers
 * @returns {string[]}
 */
export function slower (writers, readers) {
  const writing = writers.flatMap(({ label, cell }) => {
    if (!cell || cell.measures.missedSamples <= (1 - KEPT) * PACE.samplesPerSecond * Number(cell.parameters.seconds)) return []
    return `${label}, ${Math.round(cell.measures.samplesPerSecond)} of ${PACE.samplesPerSecond} samples a second`
  })
  const reading = readers.flatMap(({ label, cell }) => {
    if (!cell || cell.measures.cyclesPerSecond >= KEPT * PACE.cyclesPerSecond) return []
    return `${label}, ${Number(cell.measures.cyclesPerSecond.toPrecision(2))} of ${PACE.cyclesPerSecond} cycles a second`
  })
  return Object.entries({ writing, reading }).flatMap(([work, which]) => {
    return which.length > 0 ? [`Did not keep pace in ${work}, so that the score is of less work: ${which.join('; ')}.`] : []
  })
}
