import { MEASURES, together } from './measures.js'
import { fromCell, toCell } from './cells.js'

/**
 * @typedef {import('./readings.js').Subject} Subject
 * @typedef {import('./readings.js').Reading} Reading
 * @typedef {{subject: Subject, cells: Uint16Array}} Columns  one measure after the other, each a cell for every step
 * @typedef {{subject: string, measure: string}} Series  a subject by its key
 * @typedef {{stepMs: number, start: number, length: number}} Span  `start` in steps since 1970, `length` in steps
 */

/** As they are, 24 h and 30 days of as many take a quarter of the limit; if nothing of them could be compressed, twice as much as it. */
export const MAX_SERIES = 4000
const OTHERS = '(others)'

/** What it is called in requests: no comma and only one slash, whatever its id. @param {Pick<Subject, 'type'|'id'>} subject */
export function keyOf ({ type, id }) { return `${type}/${id.replace(/[%,/]/g, encodeURIComponent)}` }

/** The cells of some time, in memory. */
export class Chunk {
  /** By key. @type {Map<string, Columns>} */
  columns = new Map()
  series = 0

  /** @param {Span} span */
  constructor ({ stepMs, start, length }) {
    this.stepMs = stepMs
    this.start = start
    this.length = length
  }

  /**
   * What has been read of one step. Of more series than there is room for, the least active are one.
   * @param {number} step  from the start
   * @param {Reading[]} readings
   */
  put (step, readings) {
    const ordered = this.series === 0 ? readings.toSorted((a, b) => b.activity - a.activity || 0) : readings
    /** @type {Map<Subject['type'], unknown[][]>} */
    const rest = new Map()
    for (const { subject, values } of ordered) {
      const { type } = subject
      const key = keyOf(subject)
      if (this.columns.has(key) || this.series + values.length <= MAX_SERIES) write(this.of(key, subject), step, this.length, values)
      else if (!rest.get(type)?.push(values)) rest.set(type, [values])
    }
    for (const [type, all] of rest) {
      const subject = { type, id: OTHERS, name: OTHERS }
      const values = MEASURES[type].map((measure, i) => COMBINE[together(measure)](numbersAt(all, i)))
      write(this.of(keyOf(subject), subject), step, this.length, values)
    }
  }

  /** Some time that was kept before: what it has replaces what is here. @param {import('./blocks.js').Block} block */
  async fill (block) {
    const offset = block.span.start - this.start
    if (block.span.stepMs !== this.stepMs || offset < 0 || offset + block.span.length > this.length) return
    await block.readAll((subject, measure, cells) => {
      const column = this.column(subject, measure)
      for (let i = 0; column && i < cells.length; i++) if (cells[i] !== 0) column[offset + i] = cells[i]
    })
  }

  /**
   * The cells of a series, made where they are not there; none where it is not kept any more.
   * @param {Subject} subject
   * @param {string} measure
   */
  column (subject, measure) {
    const index = MEASURES[subject.type]?.findIndex(({ name }) => name === measure) ?? -1
    return index === -1 ? null : this.of(keyOf(subject), subject).subarray(index * this.length, (index + 1) * this.length)
  }

  get span () { return { stepMs: this.stepMs, start: this.start, length: this.length } }

  /** As a block does. @param {Series[]} series @returns {Map<Series, Uint16Array>} */
  read (series) {
    return new Map(series.flatMap(each => {
      const { subject } = this.columns.get(each.subject) ?? {}
      const cells = subject && this.column(subject, each.measure)
      return cells ? [[each, cells]] : []
    }))
  }

  /** The columns of a subject, which it is known by from now on. @param {string} key @param {Subject} subject */
  of (key, subject) {
    const known = this.columns.get(key)
    if (known) {
      known.subject = subject
      return known.cells
    }
    const cells = new Uint16Array(MEASURES[subject.type].length * this.length)
    this.columns.set(key, { subject, cells })
    this.series += MEASURES[subject.type].length
    return cells
  }
}

/** What many values in one step are. @type {Record<import('./measures.js').Over, (values: number[]) => number|null>} */
export const COMBINE = {
  mean: values => values.length > 0 ? total(values) / values.length : null,
  sum: values => values.length > 0 ? total(values) : null,
  max: values => values.length > 0 ? values.reduce((a, b) => Math.max(a, b)) : null,
  min: values => values.length > 0 ? values.reduce((a, b) => Math.min(a, b)) : null
}

/**
 * One cell for many, by what becomes of its measure in time.
 * @param {import('./measures.js').Over} over
 * @param {Uint16Array} cells
 */
export function combined (over, cells) {
  const values = []
  for (const cell of cells) if (cell !== 0) values.push(fromCell(cell))
  return toCell(COMBINE[over](values))
}

/** @param {Uint16Array} cells @param {number} step @param {number} length @param {unknown[]} values */
function write (cells, step, length, values) {
  for (let i = 0; i < values.length; i++) cells[i * length + step] = toCell(values[i])
}

/** @param {unknown[][]} all @param {number} i */
function numbersAt (all, i) { return all.map(values => values[i]).filter(value => typeof value === 'number') }

/** @param {number[]} values */
function total (values) { return values.reduce((a, b) => a + b, 0) }
