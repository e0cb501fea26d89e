import { Cells, sizeOf, systemOf, WORKLOADS } from './cells.js'
import { ENGINES } from './engines.js'
import { PATTERNS, THROUGHPUT } from './published.js'

/**
 * A flow beside jobs of engines, on this machine: one by one, as all of them are measured.
 *
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {{name: string, cells: Cells}} Way
 */

const FLOW = 'A Sluice flow'
const JOBS = 'The jobs of the engines do the same in an operator each: read by key, compare, add, replace, one record after the other, ' +
  'each client with keys and a connection of its own, from the same signals and BLOBs. Flink\'s is in Java, Spark\'s in Python, with the ' +
  'databases\' own drivers. They have a table of their own with the record\'s columns alone, and leave no commit record: a flow does ' +
  'more. Apex has ended in 2019; its figures are the paper\'s.'

/** What of a result is of no engine. @param {StudyResult['cells']} cells */
export function flowCells (cells) {
  return cells.filter(({ parameters }) => !parameters.engine)
}

/** @param {StudyResult['cells']} all @returns {import('../study.js').Section[]} */
export function engineSections (all) {
  const inEngines = all.filter(({ parameters }) => parameters.engine)
  if (inEngines.length === 0) return []
  const databases = [...new Set(inEngines.map(({ parameters }) => String(parameters.database)))]
  /** @type {Way[]} */
  const ways = [
    { name: FLOW, cells: new Cells(flowCells(all).filter(({ parameters }) => parameters.batchRows === 1)) },
    ...Object.entries(ENGINES).map(([engine, name]) => ({ name, cells: new Cells(all.filter(cell => cell.parameters.engine === engine)) }))
  ]
  const workloads = WORKLOADS.filter(({ pattern, blobBytes }) => inEngines.some(({ parameters }) => {
    return parameters.pattern === pattern && parameters.blobBytes === blobBytes
  }))
  const table = measured(databases, ways, workloads)
  return [{
    title: 'Engines',
    text: [JOBS],
    blocks: [
      table({ caption: 'Throughput', unit: 'records/s', measure: 'recordsPerSecond', publishedBy: throughputOf }),
      table({ caption: 'Latency of reads', unit: 'µs, mean', measure: 'readMeanMicroseconds', publishedBy: () => null }),
      fastest(databases, ways, workloads)
    ]
  }]
}

/** @param {string[]} databases @param {Way[]} ways @param {typeof WORKLOADS} workloads */
function measured (databases, ways, workloads) {
  const places = databases.flatMap(database => ways.map(way => ({ database, ...way })))
  /**
   * @param {{caption: string, unit: string, measure: string,
   *   publishedBy: (name: string, workload: typeof WORKLOADS[number]) => number|null}} what
   * @returns {TableBlock}
   */
  return ({ caption, unit, measure, publishedBy }) => ({
    kind: 'table',
    caption: `${caption}, a flow and engines`,
    heading: 'Workload',
    columns: places.map(({ database, name }) => ({ title: `${systemOf(database)}, ${name}`, unit, digits: 0 })),
    rows: workloads.map(workload => ({
      label: `${PATTERNS[/** @type {'read'} */ (workload.pattern)]}, ${sizeOf(workload.blobBytes)}`,
      figures: places.map(({ database, name, cells }) => {
        const value = cells.fastest({ database, ...workload, batchRows: 1 })?.measures[measure]
        const published = publishedBy(`${systemOf(database)} / ${name}`, workload)
        const figure = value === undefined ? { value: null, reason: cells.reasonOf(database) } : { value }
        return { ...figure, ...published !== null && { published } }
      })
    }))
  })
}

/**
 * As the paper's table 1 counts.
 * @param {string[]} databases @param {Way[]} ways @param {typeof WORKLOADS} workloads
 * @returns {TableBlock}
 */
function fastest (databases, ways, workloads) {
  const rates = databases.flatMap(database => workloads.map(workload => ways.map(({ cells }) => {
    return cells.fastest({ database, ...workload, batchRows: 1 })?.measures.recordsPerSecond ?? 0
  })))
  return {
    kind: 'table',
    caption: `Experiments in which it had the highest throughput, of ${rates.length}`,
    heading: 'Engine',
    columns: [{ title: 'Experiments', digits: 0 }],
    rows: ways.map(({ name }, i) => ({
      label: name, figures: [{ value: rates.filter(each => each[i] > 0 && each[i] === Math.max(...each)).length }]
    }))
  }
}

/** Of table 3, which has the best and the second best. @param {string} name @param {typeof WORKLOADS[number]} workload */
function throughputOf (name, { pattern, blobBytes }) {
  const row = THROUGHPUT.find(each => each.pattern === pattern && each.blobBytes === blobBytes)
  return [row?.best, row?.second].find(each => each?.by === name)?.value ?? null
}
