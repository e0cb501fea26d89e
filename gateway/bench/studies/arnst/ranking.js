import { COSTS } from './columns.js'
import { scored } from './outcomes.js'
import { CONTRADICTIONS, READERS, TOTALS, WRITERS } from './published.js'
import { printedScores, publishedReadScores, ranks } from './score.js'
import { slower } from './tables.js'

/**
 * Table III.
 *
 * @typedef {import('./outcomes.js').Outcome} Outcome
 * @typedef {import('./score.js').Costs} Costs
 * @typedef {(number|null)[]} Column  a figure for each reader of the paper; null of one that was not measured
 */

const READER_IDS = /** @type {(keyof typeof READERS)[]} */ (Object.keys(READERS))

const COLUMNS = [
  { title: 'Writing', digits: 1 }, { title: 'Rank', digits: 0 },
  { title: 'Reading', digits: 1 }, { title: 'Rank', digits: 0 },
  { title: 'Total', digits: 1 }, { title: 'Rank', digits: 0 },
  { title: 'Reading, by the printed formula', digits: 1 }
]

/** Which columns are ranks. */
const PLACES = new Set([1, 3, 5])

const HOW = 'A score is between 0 and 100: the more, the less it costs. Reading, and so the total, are by the formula that yields what ' +
  'is published; beneath those by the printed formula stands what that yields of the paper’s own Table V.'

/** @param {Outcome[]} writers @param {Outcome[]} readers @returns {import('../study.js').TableBlock} */
export function ranking (writers, readers) {
  const [writing, reading, printed] = [
    scoresOf(writers, printedScores), scoresOf(readers, publishedReadScores), scoresOf(readers, printedScores)
  ]
  const ours = columns(
    READER_IDS.map(id => writing.get(writerOf(id)) ?? null),
    READER_IDS.map(id => reading.get(id) ?? null),
    READER_IDS.map(id => printed.get(id) ?? null)
  )
  const paper = Object.values(READERS)
  const theirs = columns(READER_IDS.map(id => WRITERS[writerOf(id)].score), paper.map(({ score }) => score), printedScores(paper))
  theirs.splice(4, 2, [...TOTALS.scores], [...TOTALS.ranks])
  return {
    kind: 'table',
    caption: 'Table III: scored ranking',
    columns: COLUMNS,
    rows: READER_IDS.map((id, row) => {
      const [reader, writer] = [readers, writers].map((outcomes, i) => outcomes.find(each => each.id === (i === 0 ? id : writerOf(id))))
      const reason = [reader, writer].find(each => each && !each.cell)?.reason
      return {
        label: reader?.label ?? READERS[id].label,
        figures: ours.map((column, i) => {
          const [value, published] = [column[row], theirs[i][row]]
          if (value === null) return { value, published, reason }
          return PLACES.has(i) ? { value: String(value), published: String(published) } : { value, published } // a place has no ratio
        })
      }
    }),
    notes: [
      HOW,
      ...slower(writers, readers),
      ...notRead('writing', writers),
      ...notRead('reading', readers),
      ...withoutScore([...writers, ...readers]),
      ...CONTRADICTIONS
    ]
  }
}

/** @param {Outcome[]} outcomes @param {(costs: Costs[]) => number[]} formula @returns {Map<string, number>} by id */
function scoresOf (outcomes, formula) {
  const measured = scored(outcomes)
  const scores = formula(measured.map(({ costs }) => costs))
  return new Map(measured.map(({ id }, i) => [id, scores[i]]))
}

/** In the order of the columns. @param {Column} writing @param {Column} reading @param {Column} printed @returns {Column[]} */
function columns (writing, reading, printed) {
  const total = writing.map((score, i) => {
    const other = reading[i]
    return score === null || other === null ? null : (score + other) / 2
  })
  return [writing, placesOf(writing), reading, placesOf(reading), total, placesOf(total), printed]
}

/** Among those that have a score. @param {Column} scores @returns {Column} */
function placesOf (scores) {
  const places = ranks(scores.filter(score => score !== null)).values()
  return scores.map(score => score === null ? null : Number(places.next().value))
}

/** @param {keyof typeof READERS} reader */
function writerOf (reader) {
  return /** @type {keyof typeof WRITERS} */ (Object.hasOwn(WRITERS, reader) ? reader : reader.split('-')[0])
}

/** What is in no score, as it was not read of all. @param {string} work @param {Outcome[]} outcomes */
function notRead (work, outcomes) {
  const measured = scored(outcomes)
  const paper = outcomes.find(({ published }) => published)?.published ?? {}
  const missing = COSTS.filter(({ cost }) => cost in paper && measured.some(({ costs }) => costs[cost] === undefined))
  if (measured.length === 0 || missing.length === 0) return []
  return [`The scores of ${work} are without ${missing.map(({ title }) => title).join('; ')}: it could not be read of all.`]
}

/** @param {Outcome[]} outcomes */
function withoutScore (outcomes) {
  const labels = [...new Set(outcomes.filter(({ published }) => !published).map(({ label }) => label))]
  return labels.length > 0 ? [`Without a score, as the paper rates no difficulty of theirs: ${labels.join(', ')}.`] : []
}
