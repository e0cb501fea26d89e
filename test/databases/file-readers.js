import { cp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { tableFromIPC } from 'apache-arrow'
import { LineFile } from '../../gateway/base/line-file.js'

/**
 * Reads data files independently of the sink: with strict parsers of the formats' own rules, and apache-arrow.
 *
 * @typedef {Record<string, unknown>} Row
 */

/** Columns of the contract that hold bytes, which CSV and lines do not mark as such. */
const IS_BYTES = /^(value_)?(bytes|noBytes|blob)$/

const NAME = /^(.*)-\d{6}\.(csv|lp|arrow|gts)$/

/** The data files of a folder in the order in which they were begun. @param {string} folder */
export async function filesOf (folder) {
  const names = await readdir(folder)
  return names.filter(name => NAME.test(name)).sort().map(name => {
    const [, table] = /** @type {RegExpExecArray} */ (NAME.exec(name))
    return { name, path: join(folder, name), table: decodeURIComponent(table) }
  })
}

/** @param {string} folder @param {string} table @returns {Promise<Row[]>} */
export function csvRows (folder, table) {
  return rowsOf(folder, table, bytes => parseCsv(bytes.toString()))
}

/** Whether the file is finished or not. @param {string} folder @param {string} table @returns {Promise<Row[]>} */
export function arrowRows (folder, table) {
  return rowsOf(folder, table, bytes => {
    const isComplete = bytes.subarray(-6).toString() === 'ARROW1'
    return parseArrow(isComplete ? bytes : bytes.subarray(8))
  })
}

/** @param {string} folder @param {string} table @returns {Promise<Row[]>} */
export function lineRows (folder, table) {
  return rowsOf(folder, table, bytes => parseLines(bytes.toString()).map(({ measurement, ...row }) => {
    return measurement === table ? row : { ...row, source: measurement }
  }))
}

/** Line protocol; tags and fields are columns alike. @param {string} text @returns {Row[]} */
export function parseLines (text) {
  const word = String.raw`(?:\\[ ,=]|[^ ,=\n])+`
  const allTags = `(?:,${word}=${word})*`
  const one = String.raw`${word}=(?:"(?:\\["\\]|[^"\\])*"|[^ ,"\n]+)`
  const line = new RegExp(String.raw`((?:\\[ ,=]|[^ ,\n])+)(${allTags}) (${one}(?:,${one})*) (-?\d+)\n`, 'y')
  const tag = /,((?:\\[ ,=]|[^ ,=\n])+)=((?:\\[ ,=]|[^ ,=\n])+)/g
  const field = /,((?:\\[ ,=]|[^ ,=\n])+)=(?:"((?:\\["\\]|[^"\\])*)"|([^ ,"\n]+))/g
  /** @type {Row[]} */
  const rows = []
  while (line.lastIndex < text.length) {
    const match = line.exec(text)
    if (!match) throw new Error('This is not line protocol.')
    const [, measurement, tags, fields, time] = match
    rows.push({
      time: BigInt(time),
      measurement: keyOf(measurement),
      ...Object.fromEntries([...tags.matchAll(tag)].map(([, name, value]) => [keyOf(name), keyOf(value)])),
      ...Object.fromEntries([...`,${fields}`.matchAll(field)].map(([, name, quoted, plain]) => {
        return [keyOf(name), lineValue(keyOf(name), quoted, plain)]
      }))
    })
  }
  return rows
}

/** @param {string} escaped */
function keyOf (escaped) {
  return escaped.replace(/\\([ ,=])/g, '$1')
}

/** @param {string} name @param {string|undefined} quoted @param {string} plain */
function lineValue (name, quoted, plain) {
  if (quoted !== undefined) {
    const text = quoted.replace(/\\(["\\])/g, '$1')
    return IS_BYTES.test(name) ? `0x${Buffer.from(text, 'base64').toString('hex')}` : text
  }
  if (plain === 't' || plain === 'f') return Number(plain === 't')
  return plain.endsWith('i') ? whole(BigInt(plain.slice(0, -1))) : Number(plain)
}

/**
 * A CSV text by RFC 4180 (with line feeds): quoted cells are texts, the others numbers, truth values, times or nothing.
 * @param {string} text
 * @returns {Row[]}
 */
export function parseCsv (text) {
  /** @type {{text: string, isQuoted: boolean}[][]} */
  const records = [[]]
  const cell = /"((?:[^"]|"")*)"(,|\n)|([^",\n]*)(,|\n)/y
  for (let match; cell.lastIndex < text.length;) {
    match = cell.exec(text)
    if (!match) throw new Error('This is not CSV.')
    const [, quoted, endOfQuoted, plain, endOfPlain] = match
    const isQuoted = quoted !== undefined
    records[records.length - 1].push({ text: isQuoted ? quoted.replaceAll('""', '"') : plain, isQuoted })
    if ((endOfQuoted ?? endOfPlain) === '\n') records.push([])
  }
  if (/** @type {any} */ (records.pop()).length > 0) throw new Error('The last line has no end.')
  const [head, ...rows] = records
  return rows.map(cells => {
    if (cells.length !== head.length) throw new Error(`A line of ${cells.length} cells, where ${head.length} columns are.`)
    return Object.fromEntries(head.map((column, c) => [column.text, csvValue(column.text, cells[c])]))
  })
}

/** @param {string} column @param {{text: string, isQuoted: boolean}} cell */
function csvValue (column, { text, isQuoted }) {
  if (isQuoted) return IS_BYTES.test(column) ? `0x${text}` : text
  if (text === '') return null
  if (column === 'time') return /^-?\d+$/.test(text) ? BigInt(text) : isoTime(text)
  if (text === 'true' || text === 'false') return Number(text === 'true')
  if (/^-?\d+$/.test(text) && text !== '-0') return whole(BigInt(text))
  if (!/^-?(\d+(\.\d+)?(e[+-]\d+)?|Infinity)$|^NaN$/.test(text)) throw new Error(`"${text}" is no number.`)
  return Number(text)
}

/** @param {string} text */
function isoTime (text) {
  const [, seconds, fraction] = /** @type {RegExpExecArray} */ (/^(.{19})\.(\d{9})Z$/.exec(text))
  return BigInt(Date.parse(`${seconds}Z`)) * 1_000_000n + BigInt(fraction)
}

/** @param {Uint8Array} bytes @returns {Row[]} */
export function parseArrow (bytes) {
  const table = tableFromIPC(bytes)
  const names = table.schema.fields.map(({ name }) => name)
  const rows = /** @type {Row[]} */ (Array.from({ length: table.numRows }, () => ({})))
  names.forEach((name, c) => {
    let row = 0
    for (const data of /** @type {any} */ (table.getChildAt(c)).data) {
      for (let i = 0; i < data.length; i++) rows[row++][name] = data.getValid(i) ? arrowValue(data, i) : null
    }
  })
  return rows
}

/** @param {any} data @param {number} row */
function arrowValue (data, row) {
  const { values, valueOffsets, type } = data
  const kind = String(type)
  if (valueOffsets) {
    const bytes = Buffer.from(values.subarray(valueOffsets[row], valueOffsets[row + 1]))
    return kind === 'Binary' ? `0x${bytes.toString('hex')}` : bytes.toString()
  }
  if (kind === 'Bool') return (values[row >> 3] >> (row & 7)) & 1
  const value = values[row]
  if (kind.startsWith('Timestamp')) return value
  return typeof value === 'bigint' ? whole(value) : value
}

/** @param {string} folder @param {string} table @param {(bytes: Buffer) => Row[]} parse */
async function rowsOf (folder, table, parse) {
  const files = (await filesOf(folder)).filter(file => file.table === table)
  const rows = (await Promise.all(files.map(async ({ path }) => parse(await readFile(path))))).flat()
  const columns = [...new Set(rows.flatMap(row => Object.keys(row)))]
  return rows.map(row => Object.fromEntries(columns.map(column => [column, row[column] ?? null])))
    .sort((a, b) => Number(/** @type {any} */ (a.time) - /** @type {any} */ (b.time)))
}

/** @param {bigint} value */
function whole (value) {
  return BigInt.asIntN(53, value) === value ? Number(value) : value
}

/**
 * Puts a folder in the place of another, with the records from before a batch, and the rows of all writes that it had no part in.
 * @param {string} folder
 * @param {number} seq
 */
export async function setBack (folder, seq) {
  const [earlier, later] = [`${folder}-earlier`, `${folder}-later`]
  await cp(folder, earlier, { recursive: true })
  const journal = join(earlier, '.sluice', 'journal')
  /** @type {any[]} */
  const lines = []
  await (await LineFile.open(journal, line => lines.push(line))).close()
  await rm(journal)
  const until = lines.findIndex(each => each.stored?.some((/** @type {any} */ { records }) =>
    records.some((/** @type {number[]} */ [first]) => first >= seq)))
  const stored = lines[until].stored.map((/** @type {any} */ { records, ...stream }) =>
    ({ ...stream, records: records.filter((/** @type {number[]} */ [first]) => first < seq) }))
  const isShared = stored.some((/** @type {any} */ { records }) => records.length > 0)
  const changed = await LineFile.open(journal, () => {})
  await changed.append([...lines.slice(0, until), ...isShared ? [{ ...lines[until], stored }] : []])
  await changed.close()
  await rename(folder, later)
  await rename(earlier, folder)
  await rm(later, { recursive: true })
}
