import { EMBEDDED } from '../clients.js'
import { Cells, sizeOf, WORKLOADS } from './cells.js'
import { engineSections, flowCells } from './engine-tables.js'
import { latencyFigures, throughputFigures } from './figures.js'
import { ABSENT, BLOB_BYTES, PATTERNS } from './published.js'
import { printedTables } from './tables.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {import('../study.js').Figure} Figure
 */

const OPERATOR = [
  'The operator is what a Sluice flow does with a message: read its records by key, add the new numbers to those that are stored, and ' +
  'replace them through the sink\'s layout upsert, with a commit record, in one transaction where the database has any, and forced to ' +
  'disk where its settings say so. Inserts alone read nothing. Each client has a connection and keys of its own, and does one message ' +
  'after the other. Generator and operator are in one program, as in the paper; Node-RED, spool and broker are not between them.',
  'One by one, a message has one record, as the paper\'s operators see them. Gathered, it has up to 1000 of them (of MongoDB 100, as ' +
  'requests of more take FerretDB too long) and no more than 1 MB: they are read in one request, and replaced in one transaction.'
]
const CHECKED = 'Every read is compared with what was written last, numbers and BLOB. In the end, up to 1000 records of each client and ' +
  'kind are read again, and the rows are counted. Where there are not as many as ids, or a read returns anything else, the cell has failed.'
const FERRETDB = 'FerretDB over PostgreSQL stands for MongoDB. It finds no document by its index, but looks at all of them for each read ' +
  'by key, and fetches all for one of several keys; MongoDB itself has an index for it.'
const MACHINES = 'The paper had six servers of 12 cores each with 10 Gbit/s between them, and databases that store on several of them.'

/** @param {StudyResult} result @returns {import('../study.js').Section[]} */
export function report ({ cells: all }) {
  const cells = new Cells(flowCells(all))
  const measured = cells.databases.filter(database => cells.of(database).length > 0)
  const [few, ...more] = cells.batchRows
  const many = more.at(-1)
  const isFerretdb = measured.some(database => cells.nameOf(database) === 'FerretDB')
  return [
    { title: 'Throughput', text: [...OPERATOR, MACHINES, ...isFerretdb ? [FERRETDB] : []], blocks: throughputFigures(cells) },
    { title: 'Latency', text: ['From the request to the rows, in the flow\'s own form.'], blocks: latencyFigures(cells) },
    ...engineSections(all),
    { title: 'The paper\'s tables', blocks: printedTables(cells) },
    ...many === undefined
      ? []
      : [{ title: 'What gathering brings', blocks: [gathering(cells, measured, few, many)] }],
    { title: 'All cells', blocks: measured.flatMap(database => cells.batchRows.map(rows => grid(cells, database, rows))) },
    { title: 'What was compared', text: [CHECKED], blocks: [compared(cells, measured), absent()] }
  ]
}

/** @param {Cells} cells @param {string[]} databases @param {number} few @param {number} many @returns {TableBlock} */
function gathering (cells, databases, few, many) {
  const rate = (/** @type {import('./cells.js').Place} */ place) => cells.fastest(place)?.measures.recordsPerSecond
  return {
    kind: 'table',
    caption: 'Records a second, gathered, as a multiple of those one by one',
    heading: 'System',
    columns: ['read', 'update'].flatMap(pattern => BLOB_BYTES.map(blobBytes => ({
      title: `${PATTERNS[/** @type {'read'} */ (pattern)]}, ${sizeOf(blobBytes)}`, digits: 1
    }))),
    rows: databases.map(database => ({
      label: cells.nameOf(database),
      figures: ['read', 'update'].flatMap(pattern => BLOB_BYTES.map(blobBytes => {
        const [one, other] = [few, many].map(batchRows => rate({ database, pattern, blobBytes, batchRows }))
        return { value: one && other ? other / one : null }
      }))
    }))
  }
}

/** @param {Cells} cells @param {string} database @param {number} batchRows @returns {TableBlock} */
function grid (cells, database, batchRows) {
  const [owner, title] = EMBEDDED.includes(database) ? ['client', 'Process'] : ['server', 'Server']
  return {
    kind: 'table',
    caption: `${cells.of(database)[0].version ?? database}, ${cells.wayOf(batchRows)}`,
    heading: 'Workload',
    columns: [
      { title: 'A message', unit: 'records', digits: 0 },
      { title: 'Throughput', unit: 'records/s', digits: 0 },
      { title: 'Read', unit: 'mean, µs', digits: 0 },
      { title: 'Read', unit: 'σ, µs', digits: 0 },
      { title: 'Read', unit: 'p95, µs', digits: 0 },
      { title: 'Write', unit: 'mean, µs', digits: 0 },
      { title: 'Write', unit: 'p95, µs', digits: 0 },
      { title: 'Operators', unit: 'CPU %', digits: 0 },
      { title, unit: 'CPU %', digits: 0 },
      { title, unit: 'memory, MB', digits: 0 }
    ],
    rows: WORKLOADS.map(({ pattern, blobBytes }) => {
      const cell = cells.fastest({ database, pattern, blobBytes, batchRows })
      const of = (/** @type {string} */ name, unit = 1) => ({ value: cell && name in cell.measures ? cell.measures[name] / unit : null })
      return {
        label: `${PATTERNS[/** @type {'read'} */ (pattern)]}, ${sizeOf(blobBytes)}`,
        figures: [
          { value: cell ? Number(cell.parameters.messageRows) : null },
          ...['recordsPerSecond', 'readMeanMicroseconds', 'readDeviationMicroseconds', 'readP95Microseconds', 'writeMeanMicroseconds',
            'writeP95Microseconds', 'operatorCpuPercent'].map(name => of(name)),
          of(`${owner}CpuPercent`),
          of(`${owner}RssBytes`, 1e6)
        ]
      }
    }),
    notes: ['CPU is of one core; of operators, of their threads without making the records. A process has its embedded database in it.']
  }
}

/** @param {Cells} cells @param {string[]} databases @returns {TableBlock} */
function compared (cells, databases) {
  const total = (/** @type {string} */ database, /** @type {string} */ name) => ({
    value: cells.of(database).reduce((sum, { measures }) => sum + (measures[name] ?? 0), 0)
  })
  return {
    kind: 'table',
    caption: 'Counts, of all cells of a system',
    heading: 'System',
    columns: [
      { title: 'Cells' }, { title: 'Records through the operator', digits: 0 }, { title: 'Rows, as many as ids', digits: 0 },
      { title: 'Reads compared', digits: 0 }, { title: 'Requests that failed', digits: 0 }
    ],
    rows: databases.map(database => ({
      label: cells.nameOf(database),
      figures: [
        { value: cells.of(database).length },
        ...['records', 'rows', 'comparedReads', 'failedRequests'].map(name => total(database, name))
      ]
    })),
    notes: ['A request that failed is made again, as the product\'s writer does; its latency is not among the others.']
  }
}

/** @returns {TableBlock} */
function absent () {
  return {
    kind: 'table',
    caption: 'What is not measured',
    heading: 'System',
    columns: [{ title: 'Why' }],
    rows: Object.entries(ABSENT).map(([label, value]) => ({ label, figures: [{ value }] }))
  }
}
