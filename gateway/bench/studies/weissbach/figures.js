import { sizeOf, systemOf } from './cells.js'
import { bestOf, BLOB_BYTES, COLUMNS, LATENCY, PATTERNS, THROUGHPUT } from './published.js'

/**
 * Figures 3 to 9.
 *
 * @typedef {import('./cells.js').Cells} Cells
 */

/** @param {Cells} cells @returns {import('../study.js').BarsBlock[]} */
export function throughputFigures (cells) {
  return Object.entries(PATTERNS).map(([pattern, name], i) => {
    const others = othersIn(cells, THROUGHPUT, pattern)
    const groups = BLOB_BYTES.flatMap(blobBytes => cells.batchRows.map(batchRows => ({
      label: `${sizeOf(blobBytes)}, ${cells.wayOf(batchRows)}`,
      figures: [
        ...cells.databases.map(database => {
          const cell = cells.fastest({ database, pattern, blobBytes, batchRows })
          const published = bestOf(THROUGHPUT, systemOf(database), pattern, blobBytes)
          return { ...cell ? { value: cell.measures.recordsPerSecond } : missing(cells, database), ...published !== null && { published } }
        }),
        ...others.map(system => ({
          value: null, published: bestOf(THROUGHPUT, system, pattern, blobBytes), reason: cells.reasonOf(system)
        }))
      ]
    })))
    return {
      kind: 'bars',
      caption: `Figure ${3 + i}: throughput, ${name.toLowerCase()}`,
      unit: 'records/s',
      isLog: true,
      series: [...cells.databases.map(database => seriesOf(cells, database)), ...others],
      groups,
      notes: ['Published is what table 3 has of a system, its best with any engine; the figure\'s own values are not printed.']
    }
  })
}

/** One by one, or as few at a time as were measured. @param {Cells} cells @returns {import('../study.js').BoxesBlock[]} */
export function latencyFigures (cells) {
  const [batchRows] = cells.batchRows
  return Object.entries(PATTERNS).filter(([pattern]) => pattern !== 'insert').map(([pattern, name], i) => {
    const others = othersIn(cells, LATENCY, pattern)
    const boxesOf = (/** @type {number} */ blobBytes) =>
      cells.databases.map(database => boxOf(cells.quickest({ database, pattern, blobBytes, batchRows })))
    return {
      kind: 'boxes',
      caption: `Figure ${7 + i}: latency of reads, ${name.toLowerCase()}, ${cells.wayOf(batchRows)}`,
      unit: 'µs',
      isLog: true,
      series: [...cells.databases.map(database => seriesOf(cells, database)), ...others],
      groups: BLOB_BYTES.map(blobBytes => ({
        label: sizeOf(blobBytes),
        boxes: [...boxesOf(blobBytes), ...others.map(() => null)],
        published: [...cells.databases.map(systemOf), ...others].map(system => bestOf(LATENCY, system, pattern, blobBytes))
      })),
      notes: ['Published are means, of the two systems that table 4 has; the figure\'s own values are not printed.']
    }
  })
}

/**
 * The paper's systems of a table that nothing here stands for.
 * @param {Cells} cells @param {typeof LATENCY} table @param {string} pattern
 */
function othersIn (cells, table, pattern) {
  const here = cells.databases.map(systemOf)
  const isThere = (/** @type {string} */ system) => BLOB_BYTES.some(blobBytes => bestOf(table, system, pattern, blobBytes) !== null)
  return COLUMNS.filter(system => !here.includes(system) && isThere(system))
}

/** @param {Cells} cells @param {string} database */
function seriesOf (cells, database) {
  const [name, system] = [cells.nameOf(database), systemOf(database)]
  return name === system ? name : `${name}, for ${system}`
}

/** @param {Cells} cells @param {string} database */
function missing (cells, database) {
  return { value: null, reason: cells.reasonOf(database) }
}

/** @param {import('../study.js').DoneCell|undefined} cell @returns {import('../study.js').Box|null} */
function boxOf (cell) {
  if (!cell) return null
  const of = (/** @type {string} */ name) => cell.measures[`read${name}Microseconds`]
  return {
    min: of('Min'), lower: of('Lower'), median: of('Median'), upper: of('Upper'), max: of('Max'), mean: of('Mean'),
    count: cell.measures.readCount
  }
}
