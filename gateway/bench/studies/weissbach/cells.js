import { BLOB_BYTES, PATTERNS, SYSTEMS } from './published.js'

/**
 * What has been measured, as the report asks for it.
 *
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').DoneCell} DoneCell
 * @typedef {{database: string, pattern: string, blobBytes: number, batchRows: number}} Place
 */

/** @type {{pattern: string, blobBytes: number}[]} */
export const WORKLOADS = Object.keys(PATTERNS).flatMap(pattern => BLOB_BYTES.map(blobBytes => ({ pattern, blobBytes })))

export class Cells {
  #cells
  #done

  /** @param {StudyResult['cells']} cells */
  constructor (cells) {
    this.#cells = cells
    this.#done = cells.filter(cell => cell.state === 'done')
    /** by type, in their order */
    this.databases = [...new Set(cells.map(({ parameters }) => String(parameters.database)))]
    /** records that a message may have, ascending */
    this.batchRows = [...new Set(cells.map(({ parameters }) => Number(parameters.batchRows)))].sort((a, b) => a - b)
  }

  /**
   * Of several numbers of clients, the best.
   * @param {Place} place @param {string} measure @param {1|-1} [order]  -1: the least
   * @returns {DoneCell|undefined}
   */
  best (place, measure, order = 1) {
    return this.#done.filter(({ parameters, measures }) => measure in measures &&
      Object.entries(place).every(([name, value]) => parameters[name] === value))
      .toSorted((a, b) => order * (b.measures[measure] - a.measures[measure]))[0]
  }

  /** @param {Place} place */
  fastest (place) { return this.best(place, 'recordsPerSecond') }

  /** Of reads. @param {Place} place */
  quickest (place) { return this.best(place, 'readMeanMicroseconds', -1) }

  /** All of a database. @param {string} database */
  of (database) { return this.#done.filter(({ parameters }) => parameters.database === database) }

  /** As a reader calls what was measured: FerretDB is no MongoDB. @param {string} database */
  nameOf (database) {
    const [product] = this.of(database)[0]?.version?.split(/[ ,]/) ?? []
    return product ?? systemOf(database)
  }

  /** Why there is no figure. @param {string} database */
  reasonOf (database) {
    const other = this.#cells.find(({ parameters, state }) => parameters.database === database && state !== 'done')
    if (other && 'reason' in other) return other.reason
    return this.databases.includes(database) ? 'It has not been measured yet.' : 'It was not chosen.'
  }

  /** @param {number} batchRows */
  wayOf (batchRows) {
    if (batchRows === 1) return 'one by one'
    return this.batchRows.filter(rows => rows > 1).length > 1 ? `gathered, up to ${batchRows}` : 'gathered'
  }
}

/** As the paper calls it. @param {string} database */
export function systemOf (database) {
  return Object.entries(SYSTEMS).find(([type]) => type === database)?.[1] ?? database
}

/** @param {number} blobBytes */
export function sizeOf (blobBytes) {
  return `${blobBytes.toLocaleString('en-GB')} B`
}
