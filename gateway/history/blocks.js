import { promisify } from 'node:util'
import { crc32, deflateRaw, inflateRaw, inflateRawSync } from 'node:zlib'
import { MEASURES } from './measures.js'
import { keyOf } from './chunk.js'

/**
 * A block is some time of all that is kept, as files have it; a file is one block, or one a minute after the other.
 *
 *     block  := "SLH1"; crc32 of all that follows; bytes of header; bytes of body; header; body
 *     header := JSON, deflated: the span, the subjects, which measures each type has, columns on a page, bytes of each page
 *     body   := pages, each deflated: the upper bytes of its columns, then their lower ones
 *
 * A column is the cells of one series; the upper bytes hardly change, so most of what is left after compression are lower ones. A request
 * inflates the pages of its series only.
 *
 * @typedef {import('./chunk.js').Chunk} Chunk
 * @typedef {import('./chunk.js').Series} Series
 * @typedef {import('./chunk.js').Span} Span
 * @typedef {import('./readings.js').Subject} Subject
 * @typedef {object} Header
 * @property {Span} span
 * @property {Subject[]} subjects
 * @property {Record<string, string[]>} measures
 * @property {number} columns  on a page
 * @property {number[]} pages  bytes of each
 */

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

const MAGIC = Buffer.from('SLH1')
const PREFIX_BYTES = 16
/** Of a page before compression: more would take longer to inflate for one column, less would compress worse. */
const PAGE_BYTES = 32 * 1024

/**
 * @param {Chunk} chunk
 * @param {number} [from]  steps
 * @param {number} [to]
 * @returns {Promise<Buffer>} never long without letting others have the event loop
 */
export async function encodeBlock (chunk, from = 0, to = chunk.length) {
  const length = to - from
  const perPage = Math.max(1, Math.floor(PAGE_BYTES / 2 / length))
  /** @type {Uint16Array[]} */
  const columns = []
  const subjects = Array.from(chunk.columns.values(), ({ subject, cells }) => {
    for (let first = from; first < cells.length; first += chunk.length) columns.push(cells.subarray(first, first + length))
    return subject
  })
  /** @type {Buffer[]} */
  const pages = []
  for (let i = 0; i < columns.length; i += perPage) pages.push(await deflate(planes(columns.slice(i, i + perPage), length)))
  /** @type {Header} */
  const header = {
    span: { stepMs: chunk.stepMs, start: chunk.start + from, length },
    subjects,
    measures: NAMES,
    columns: perPage,
    pages: pages.map(page => page.length)
  }
  const head = await deflate(JSON.stringify(header))
  const block = Buffer.concat([MAGIC, Buffer.alloc(PREFIX_BYTES - MAGIC.length), head, ...pages])
  block.writeUInt32LE(head.length, 8)
  block.writeUInt32LE(block.length - PREFIX_BYTES - head.length, 12)
  block.writeUInt32LE(crc32(block.subarray(8)), 4)
  return block
}

const NAMES = Object.fromEntries(Object.entries(MEASURES).map(([type, measures]) => [type, measures.map(({ name }) => name)]))

/** A block of a file. */
export class Block {
  #body
  /** The first column of each subject, by key. @type {Map<string, {subject: Subject, column: number}>} */
  subjects = new Map()
  #header

  /** @param {Header} header @param {Buffer} body */
  constructor (header, body) {
    this.#header = header
    this.#body = body
    let column = 0
    for (const subject of header.subjects) {
      this.subjects.set(keyOf(subject), { subject, column })
      column += header.measures[subject.type].length
    }
  }

  get span () { return this.#header.span }

  /**
   * The cells of those series that it has.
   * @param {Series[]} series
   * @returns {Map<Series, Uint16Array>}
   */
  read (series) {
    const { columns, measures } = this.#header
    /** @type {Map<number, Uint16Array[]>} */
    const pages = new Map()
    return new Map(series.flatMap(each => {
      const found = this.subjects.get(each.subject)
      const index = found ? measures[found.subject.type].indexOf(each.measure) : -1
      if (!found || index === -1) return []
      const column = found.column + index
      const page = Math.floor(column / columns)
      if (!pages.has(page)) pages.set(page, this.#cells(inflateRawSync(this.#page(page))))
      return [[each, /** @type {Uint16Array[]} */ (pages.get(page))[column % columns]]]
    }))
  }

  /**
   * All of it, page by page, so that others have the event loop between them.
   * @param {(subject: Subject, measure: string, cells: Uint16Array) => void} take
   */
  async readAll (take) {
    const { subjects, measures, pages } = this.#header
    const series = subjects.flatMap(subject => measures[subject.type].map(measure => ({ subject, measure })))
    let next = 0
    for (const page of pages.keys()) {
      for (const cells of this.#cells(await inflate(this.#page(page)))) {
        const { subject, measure } = series[next++]
        take(subject, measure, cells)
      }
    }
  }

  /** @param {number} index */
  #page (index) {
    const { pages } = this.#header
    const start = pages.slice(0, index).reduce((sum, bytes) => sum + bytes, 0)
    return this.#body.subarray(start, start + pages[index])
  }

  /** The columns of a page. @param {Buffer} page */
  #cells (page) {
    const { length } = this.span
    const half = page.length / 2
    return Array.from({ length: half / length }, (_, column) => {
      const cells = new Uint16Array(length)
      for (let i = 0, at = column * length; i < length; i++, at++) cells[i] = page[at] << 8 | page[half + at]
      return cells
    })
  }
}

/**
 * The blocks of a file. Between two of them there should be nothing else; after the last there may be one that was begun.
 * @param {Buffer} file
 * @returns {{blocks: Block[], end: number, isDamaged: boolean}}  `end`: of the last block, in bytes
 */
export function blocksIn (file) {
  /** @type {Block[]} */
  const blocks = []
  let end = 0
  let isDamaged = false
  for (let start = file.indexOf(MAGIC); start !== -1; start = file.indexOf(MAGIC, start)) {
    const block = blockAt(file, start)
    if (!block) {
      start++
      continue
    }
    isDamaged ||= start !== end
    blocks.push(block.block)
    start = end = block.end
  }
  return { blocks, end, isDamaged }
}

/** @param {Buffer} file @param {number} start */
function blockAt (file, start) {
  if (start + PREFIX_BYTES > file.length) return null
  const bodyStart = start + PREFIX_BYTES + file.readUInt32LE(start + 8)
  const end = bodyStart + file.readUInt32LE(start + 12)
  if (end > file.length || crc32(file.subarray(start + 8, end)) !== file.readUInt32LE(start + 4)) return null
  const header = JSON.parse(inflateRawSync(file.subarray(start + PREFIX_BYTES, bodyStart)).toString())
  return { block: new Block(header, file.subarray(bodyStart, end)), end }
}

/** @param {Uint16Array[]} columns @param {number} length */
function planes (columns, length) {
  const half = columns.length * length
  const page = Buffer.allocUnsafe(2 * half)
  let at = 0
  for (const column of columns) {
    for (let i = 0; i < length; i++, at++) {
      page[at] = column[i] >>> 8
      page[half + at] = column[i] & 0xff
    }
  }
  return page
}
