import { sizeOf, systemOf, WORKLOADS } from './cells.js'
import { ABSENT, COLUMNS, CONTRADICTIONS, LATENCY, NO_ENGINE, PATTERNS, POINTS, SYSTEMS, THROUGHPUT } from './published.js'

/**
 * Tables 1 to 4.
 *
 * @typedef {import('./cells.js').Cells} Cells
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {import('../study.js').Figure} Figure
 * @typedef {{name: string, value: number}} Ranked
 */

const READS = WORKLOADS.filter(({ pattern }) => pattern !== 'insert')

/** Of our systems, those that the paper has and the others. */
const ALL_COLUMNS = [...COLUMNS, ...Object.values(SYSTEMS).filter(system => !COLUMNS.includes(system))]

/** @param {Cells} cells @returns {TableBlock[]} */
export function printedTables (cells) {
  return [
    pointsTable(cells, {
      caption: 'Table 1: experiments in which an engine had the highest throughput',
      published: POINTS.throughput,
      winnersOf: (database, batchRows) => WORKLOADS.filter(workload => {
        const rate = (/** @type {number} */ rows) => cells.fastest({ database, ...workload, batchRows: rows })?.measures.recordsPerSecond
        return isBest(rate(batchRows), cells.batchRows.map(rate), Math.max)
      }).length,
      notes: [...CONTRADICTIONS.points, 'Ours are compared with each other, with one message at a time and gathered.']
    }),
    pointsTable(cells, {
      caption: 'Table 2: experiments in which an engine had the lowest latency',
      published: POINTS.latency,
      winnersOf: (database, batchRows) => READS.filter(workload => {
        const mean = (/** @type {number} */ rows) =>
          cells.quickest({ database, ...workload, batchRows: rows })?.measures.readMeanMicroseconds
        return isBest(mean(batchRows), cells.batchRows.map(mean), Math.min)
      }).length,
      notes: ['Ours is that of a request, which reads many records where they are gathered.']
    }),
    rankedTable({
      caption: 'Table 3: the highest throughput',
      figure: { title: 'Throughput', unit: 'records/s', digits: 0 },
      published: THROUGHPUT,
      ranked: workload => ranking(cells, cells.batchRows, place => cells.fastest({ ...place, ...workload })?.measures.recordsPerSecond)
        .sort((a, b) => b.value - a.value),
      notes: [...CONTRADICTIONS.throughput]
    }),
    rankedTable({
      caption: 'Table 4: the lowest latency of reads',
      figure: { title: 'Latency', unit: 'µs, mean', digits: 0 },
      published: LATENCY,
      ranked: workload => ranking(cells, cells.batchRows.slice(0, 1), place => {
        return cells.quickest({ ...place, ...workload })?.measures.readMeanMicroseconds
      }).sort((a, b) => a.value - b.value),
      notes: [...CONTRADICTIONS.latency]
    })
  ]
}

/**
 * @param {Cells} cells
 * @param {object} table
 * @param {string} table.caption
 * @param {Record<string, number[]>} table.published
 * @param {(database: string, batchRows: number) => number} table.winnersOf
 * @param {string[]} table.notes
 * @returns {TableBlock}
 */
function pointsTable (cells, { caption, published, winnersOf, notes }) {
  const typeOf = (/** @type {string} */ system) => cells.databases.find(database => systemOf(database) === system)
  /** @param {string} system @param {number} batchRows @returns {Figure} */
  const ours = (system, batchRows) => {
    const database = typeOf(system)
    if (database && cells.of(database).length > 0) return { value: winnersOf(database, batchRows) }
    const absent = Object.entries(ABSENT).find(([name]) => name === system)
    return { value: null, reason: absent?.[1] ?? cells.reasonOf(database ?? system) }
  }
  return {
    kind: 'table',
    caption,
    heading: 'Engine',
    columns: [
      ...ALL_COLUMNS.map(system => {
        const database = typeOf(system)
        const name = database ? cells.nameOf(database) : system
        return { title: name === system ? name : `${system}, here ${name}`, digits: 0 }
      }),
      { title: 'Total', digits: 0 }
    ],
    rows: [
      ...Object.entries(published).map(([engine, points]) => ({
        label: engine,
        figures: [...ALL_COLUMNS.map((_, i) => points[i] ?? null), total(points)].map(figure => ({
          value: null, ...figure !== null && { published: figure, reason: NO_ENGINE }
        }))
      })),
      ...cells.batchRows.map(batchRows => {
        const figures = ALL_COLUMNS.map(system => ours(system, batchRows))
        const all = total(figures.map(({ value }) => Number(value)))
        return { label: `A Sluice flow, ${cells.wayOf(batchRows)}`, figures: [...figures, { value: all }] }
      })
    ],
    notes
  }
}

/**
 * @param {object} table
 * @param {string} table.caption
 * @param {{title: string, unit: string, digits: number}} table.figure
 * @param {import('./published.js').Placed[]} table.published
 * @param {(workload: {pattern: string, blobBytes: number}) => Ranked[]} table.ranked
 * @param {string[]} table.notes
 * @returns {TableBlock}
 */
function rankedTable ({ caption, figure, published, ranked, notes }) {
  return {
    kind: 'table',
    caption,
    heading: 'Workload',
    columns: [{ title: 'Best' }, figure, { title: 'Second best' }, figure],
    rows: published.map(({ pattern, blobBytes, best, second }) => {
      const ours = ranked({ pattern, blobBytes })
      return {
        label: `${PATTERNS[pattern]}, ${sizeOf(blobBytes)}`,
        figures: [best, second].flatMap(({ by, value }, i) => [
          { value: ours[i]?.name ?? null, published: by }, { value: ours[i]?.value ?? null, published: value }
        ])
      }
    }),
    notes
  }
}

/**
 * @param {Cells} cells @param {number[]} ways  of them
 * @param {(place: {database: string, batchRows: number}) => number|undefined} measureOf
 * @returns {Ranked[]}
 */
function ranking (cells, ways, measureOf) {
  return ways.flatMap(batchRows => cells.databases.flatMap(database => {
    const value = measureOf({ database, batchRows })
    return value === undefined ? [] : [{ name: `${cells.nameOf(database)}, ${cells.wayOf(batchRows)}`, value }]
  }))
}

/** @param {number|undefined} value @param {(number|undefined)[]} all @param {(...values: number[]) => number} choose */
function isBest (value, all, choose) {
  return value !== undefined && value === choose(...all.flatMap(each => each ?? []))
}

/** @param {number[]} points */
function total (points) {
  return points.reduce((sum, each) => sum + each, 0)
}
