import { summary } from '../statistics.js'
import { DATABASES } from './databases.js'
import { LATENCIES, QUERY_NOTES } from './published.js'
import { QUERIES } from './queries.js'

/**
 * The section of the queries.
 *
 * @typedef {import('./report.js').Found} Found
 */

/** Of the first query: those of the paper follow each other. */
const FIRST_TABLE = 3
const MEAN = 1

/** @param {Found} found @returns {import('../study.js').Section} */
export function queries (found) {
  const { databases, done } = found
  const shown = databases.filter(database => done(database, 'query').length > 0)
  const cells = shown.flatMap(database => done(database, 'query'))
  const asked = Object.keys(QUERIES).filter(id => cells.some(({ parameters }) => parameters.query === id))
  return {
    title: 'Queries',
    text: [
      'The product\'s own queries on what scaling has stored. Each run has another range, random within the rows, and other random ' +
      'sensors, unless they are chosen; all databases have the same. Runs are cold where the server could be restarted and the ' +
      'system\'s caches dropped. Rows are those of an answer. PostgreSQL has analysed the table before.'
    ],
    blocks: [
      ...shown.length > 0
        ? [/** @type {import('../study.js').BarsBlock} */ ({
            kind: 'bars',
            caption: 'Tables 3 to 7, the means',
            unit: 'ms',
            isLog: true,
            series: shown.map(database => DATABASES[database].name),
            groups: asked.map(id => ({
              label: `${id}, ${QUERIES[id].title}`,
              figures: shown.map(database => ({
                value: latencies(found, database, id)?.mean ?? null, published: LATENCIES[id][database]?.[MEAN] ?? null
              }))
            }))
          })]
        : [],
      ...Object.keys(QUERIES).filter(id => asked.length === 0 || asked.includes(id)).map(id => tableOf(id, found))
    ]
  }
}

/** @param {string} id @param {Found} found @returns {import('../study.js').TableBlock} */
function tableOf (id, found) {
  const unit = 'ms'
  return {
    kind: 'table',
    caption: `Table ${FIRST_TABLE + Object.keys(QUERIES).indexOf(id)}: latency of ${id}, ${QUERIES[id].title}`,
    columns: [
      ...['Min.', 'Mean', '95 %', 'Max.', 'Std. dev.'].map(title => ({ title, unit, digits: 2 })),
      { title: 'Rows', digits: 1 },
      { title: 'Cold' }
    ],
    rows: found.databases.map(database => {
      const its = latencies(found, database, id)
      const values = its ? [its.min, its.mean, its.p95, its.max, its.deviation] : Array(5).fill(null)
      const published = LATENCIES[id][database]
      const cell = cellOf(found, database, id)
      return {
        label: DATABASES[database].name,
        figures: [
          ...values.map((value, i) => ({
            value, ...published && { published: published[i] }, ...value === null && i === 0 && { reason: found.whyNot(database, 'query') }
          })),
          { value: cell?.measures.points ?? null },
          { value: cell ? `${cell.measures.coldRuns} of ${cell.samples?.queryMicroseconds.length}` : null }
        ]
      }
    }),
    notes: [QUERY_NOTES[id]]
  }
}

/** @param {Found} found @param {string} database @param {string} id */
function cellOf ({ done }, database, id) {
  return done(database, 'query').find(({ parameters }) => parameters.query === id)
}

/** @param {Found} found @param {string} database @param {string} id */
function latencies (found, database, id) {
  return summary((cellOf(found, database, id)?.samples?.queryMicroseconds ?? []).map(microseconds => microseconds / 1000))
}
