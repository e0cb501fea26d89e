import { EMBEDDED } from '../clients.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').DoneCell} DoneCell
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('../study.js').Figure} Figure
 */

/** Table 1, in thousand records a second; those of our databases by their type. */
const PUBLISHED = [
  { label: 'Files', database: 'file', thousands: 6107 },
  { label: 'MySQL 5.6', database: 'mysql', thousands: 743 },
  { label: 'MongoDB 3.2', database: 'mongodb', thousands: 156 },
  { label: 'Kafka 2.11', database: 'kafka', thousands: 1522 },
  { label: 'SAP HANA SPS10', database: 'hana', thousands: 506, reason: 'Commercial: there is no server of it to measure.' },
  { label: 'VoltDB 6.2 (single inserts)', database: 'voltdb', thousands: 345 }
]

const NOTES = [
  'The text measures 1,000,000 records, the caption of the table says 100,000.',
  'VoltDB is 5.6 in the text and 6.2 in the table.',
  'Files are "25 times" as fast as Kafka in the text, and 4 times in the table.',
  'VoltDB is given rows one by one there, and here by its procedure of bulk loading, as many as a batch has.',
  'Kafka\'s records are blocks of up to 10,000 rows here.',
  'The paper had 8 cores and 60 GB for the database, and another machine for the writers.'
]

const RESOURCE_NOTES = [
  'CPU is of one core. The server\'s memory is resident, summed over its processes: what they share is counted for each.',
  'Writers are the threads that write, without making the rows; the client is all of their processes, or that of the bench.'
]

/** @param {StudyResult} result @returns {Section[]} */
export function report ({ cells }) {
  const done = cells.filter(cell => cell.state === 'done')
  const databases = [...new Set(cells.map(({ parameters }) => String(parameters.database)))]
  const grids = databases.map(database => gridOf(database, done.filter(({ parameters }) => parameters.database === database)))
  return [
    { title: 'The best of each system', blocks: [bestOf(databases, cells), resourcesOf(databases, cells)] },
    {
      title: 'Rate by the size of batches',
      text: ['For each size, the number of writers with the highest rate. The paper draws MySQL alone.'],
      blocks: [{
        kind: 'lines',
        caption: 'Figure 2: ingestion rate by batch size',
        unit: 'rows/s',
        xTitle: 'rows a batch',
        isLog: true,
        isLogX: true,
        lines: databases.map(database => lineOf(database, done)).filter(({ x }) => x.length > 0)
      }]
    },
    { title: 'All cells', text: ['Thousand rows a second.'], blocks: [...grids.filter(({ rows }) => rows.length > 0), ...failuresOf(done)] }
  ]
}

/** A table where there are any. @param {DoneCell[]} done @returns {import('../study.js').TableBlock[]} */
function failuresOf (done) {
  const failed = done.filter(({ measures }) => measures.failedBatches > 0)
  if (failed.length === 0) return []
  return [{
    kind: 'table',
    caption: 'Batches that failed',
    heading: 'Cell',
    columns: [
      { title: 'Failed', unit: 'batches', digits: 0 },
      { title: 'Median latency', unit: 'ms', digits: 1 },
      { title: 'Stored', unit: 'batches', digits: 0 }
    ],
    rows: failed.map(({ label, measures: { failedBatches, failedMedianMicroseconds, batches } }) => ({
      label, figures: [{ value: failedBatches }, { value: failedMedianMicroseconds / 1000 }, { value: batches }]
    })),
    notes: ['Why is told with the notes of single cells. Their rows count only where the answer alone was lost, and they are stored.']
  }]
}

/** @param {string[]} databases @param {StudyResult['cells']} cells @returns {import('../study.js').TableBlock} */
function bestOf (databases, cells) {
  const others = databases.filter(type => !PUBLISHED.some(({ database }) => database === type))
  const rows = [
    ...PUBLISHED.map(({ label, database, thousands, reason }) => ({ label, database, thousands, reason })),
    ...others.map(database => ({ label: '', database, thousands: undefined, reason: undefined }))
  ].map(({ label, database, thousands: published, reason }) => {
    const best = bestCell(cells, database)
    const value = best && best.measures.rowsPerSecond / 1000
    const why = reason ?? whyNot(cells, database)
    const how = best && `${best.parameters.batchRows} × ${best.parameters.writers}`
    return {
      label: best ? [label, `here ${best.version}`].filter(Boolean).join(': ') : label || String(database),
      figures: [{ value: value ?? null, published, ...value == null && { reason: why } }, { value: how ?? null }]
    }
  })
  return {
    kind: 'table',
    caption: 'Table 1: throughput, best value',
    columns: [{ title: 'Throughput', unit: 'thousand records/s', digits: 1 }, { title: 'Batch × writers' }],
    rows,
    notes: NOTES
  }
}

/** @param {string[]} databases @param {StudyResult['cells']} cells @returns {import('../study.js').TableBlock} */
function resourcesOf (databases, cells) {
  const best = databases.flatMap(database => bestCell(cells, database) ?? [])
  return {
    kind: 'table',
    caption: 'What the best cell of each system takes',
    heading: 'System',
    columns: [
      { title: 'Server', unit: 'CPU %', digits: 0 },
      { title: 'Server', unit: 'memory, MB', digits: 0 },
      { title: 'Writers', unit: 'CPU %', digits: 0 },
      { title: 'Client', unit: 'CPU %', digits: 0 },
      { title: 'Client', unit: 'memory, MB', digits: 0 }
    ],
    rows: best.map(({ version = '', measures, parameters: { database } }) => {
      const reason = EMBEDDED.includes(String(database)) ? 'It is in the client.' : 'It could not be read here.'
      const figure = (/** @type {string} */ name, unit = 1) => name in measures ? { value: measures[name] / unit } : { value: null, reason }
      return {
        label: version || String(database),
        figures: [
          figure('serverCpuPercent'), figure('serverRssBytes', 1e6), figure('writerCpuPercent'), figure('clientCpuPercent'),
          figure('clientRssBytes', 1e6)
        ]
      }
    }),
    notes: RESOURCE_NOTES
  }
}

/** @param {StudyResult['cells']} cells @param {string|undefined} database @returns {DoneCell|undefined} */
function bestCell (cells, database) {
  return cells.filter(cell => cell.state === 'done').filter(({ parameters }) => parameters.database === database)
    .toSorted((a, b) => b.measures.rowsPerSecond - a.measures.rowsPerSecond)[0]
}

/** @param {StudyResult['cells']} cells @param {string|undefined} database */
function whyNot (cells, database) {
  const other = cells.find(({ parameters, state }) => parameters.database === database && state !== 'done')
  return other && 'reason' in other ? other.reason : 'It was not chosen.'
}

/** @param {string} database @param {DoneCell[]} done */
function lineOf (database, done) {
  /** @type {Map<number, number>} */
  const best = new Map()
  for (const { parameters, measures: { rowsPerSecond } } of done) {
    if (parameters.database !== database) continue
    const size = Number(parameters.batchRows)
    best.set(size, Math.max(rowsPerSecond, best.get(size) ?? 0))
  }
  const sizes = [...best.keys()].sort((a, b) => a - b)
  return { label: database, x: sizes, y: sizes.map(size => Number(best.get(size))) }
}

/** @param {string} database @param {DoneCell[]} done @returns {import('../study.js').TableBlock} */
function gridOf (database, done) {
  const valuesOf = (/** @type {string} */ name) => {
    return [...new Set(done.map(({ parameters }) => Number(parameters[name])))].sort((a, b) => a - b)
  }
  const writers = valuesOf('writers')
  return {
    kind: 'table',
    caption: database,
    columns: writers.map(count => ({ title: count === 1 ? '1 writer' : `${count} writers`, digits: 1 })),
    rows: valuesOf('batchRows').map(size => ({
      label: `${size} a batch`,
      figures: writers.map(count => {
        const cell = done.find(({ parameters }) => parameters.batchRows === size && parameters.writers === count)
        return { value: cell ? cell.measures.rowsPerSecond / 1000 : null }
      })
    })),
    notes: [...new Set(done.flatMap(({ notes = [] }) => notes))]
  }
}
