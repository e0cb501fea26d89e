import { parse } from 'csv-parse/sync'
import { SluiceError } from '../../base/errors.js'
import { bytesOf, refuseUnreadable } from '../playback/recording.js'

/**
 * The records of a CSV file.
 *
 * @typedef {{line: number, cells: string[]}} CsvRecord  `line` is the number of its first line, from 1
 * @typedef {{line: number, reason: string, text: string}} BadLine
 */

/** A quoted cell may have line breaks, up to so many; a quote that is still open then does not count as one. */
const MAX_LINES_A_RECORD = 50
const MAX_CHARACTERS_A_RECORD = 2 ** 20
/** So that hundreds of records with quotes, which take long, do not block everything else. */
const MAX_RECORDS_A_BLOCK = 100

/** In the order in which they are looked for. */
const DELIMITERS = ['\t', ';', ',']

/** A first line that tells Excel the delimiter. */
const SEPARATOR_LINE = /^"?sep=(.)"?$/i

/** The beginning of a file that a spreadsheet has saved as "Unicode text". */
const UTF_16 = Buffer.of(0xFF, 0xFE)

/**
 * The records of a CSV file (RFC 4180), block by block as they are read. A line that cannot be read does not
 * affect the others.
 * @param {string} file
 * @param {{encoding: string, delimiter: string}} options  delimiter 'auto': what a first line like `sep=;` says; tab, semicolon or comma,
 *   whichever the first line has
 * @returns {AsyncGenerator<(CsvRecord|BadLine)[], void>}
 * @throws {SluiceError} SLUICE_CSV_FILE
 */
export async function * csvRecords (file, { encoding, delimiter }) {
  let chosen = delimiter
  let line = 1
  /** @type {string[]} */
  let waiting = []
  function * take (/** @type {boolean} */ isEnd) {
    if (line === 1 && waiting.length > 0) {
      const [, separator] = SEPARATOR_LINE.exec(withoutReturn(waiting[0])) ?? []
      if (chosen === 'auto') chosen = separator ?? delimiterOf(waiting[0])
      if (separator) waiting[0] = ''
    }
    /** @type {(CsvRecord|BadLine)[]} */
    let records = []
    let from = 0
    while (from < waiting.length) {
      const read = readRecord(waiting, from, chosen, isEnd)
      if (!read) break
      if (read.record) records.push({ line: line + from, ...read.record })
      from += read.lines
      if (records.length < MAX_RECORDS_A_BLOCK) continue
      yield records
      records = []
    }
    line += from
    waiting = waiting.slice(from)
    yield records
  }
  for await (const lines of lineBlocks(file, encoding)) {
    waiting = waiting.length === 0 ? lines : [...waiting, ...lines]
    yield * take(false)
  }
  yield * take(true)
}

/** @param {string} file @throws {SluiceError} SLUICE_CSV_FILE */
export function refuseUnreadableCsv (file) {
  refuseUnreadable(file, unreadable(file))
}

/**
 * @param {string[]} lines @param {number} from @param {string} delimiter @param {boolean} isEnd  no line comes after these
 * @returns {{lines: number, record?: {cells: string[]}|{reason: string, text: string}}|undefined} undefined where the record may go on in a
 *   line that has not been read yet
 */
function readRecord (lines, from, delimiter, isEnd) {
  const text = withoutReturn(lines[from])
  if (text.trim() === '') return { lines: 1 }
  const bad = (/** @type {string} */ reason) => ({ lines: 1, record: { reason, text } })
  if (text.length > MAX_CHARACTERS_A_RECORD) return bad(`it has over ${MAX_CHARACTERS_A_RECORD} characters`)
  if (!text.includes('"')) return { lines: 1, record: { cells: text.split(delimiter) } }
  let joined = text
  let quotes = quotesIn(text)
  for (let count = 1; ; count++) {
    if (count === 1 || quotes % 2 === 0) { // otherwise it cannot end here; trying at every line would take quadratic time
      try {
        const [cells] = parse(joined, { delimiter, relax_quotes: count === 1, record_delimiter: '\u0000', max_record_size: 0 })
        return { lines: count, record: { cells } }
      } catch (error) {
        const { code } = /** @type {{code?: string}} */ (error)
        if (code !== 'CSV_QUOTE_NOT_CLOSED') return bad('its quotes make no sense')
      }
    }
    if (count === MAX_LINES_A_RECORD || joined.length > MAX_CHARACTERS_A_RECORD) return bad('a quote is not closed')
    if (from + count === lines.length) return isEnd ? bad('a quote is not closed') : undefined
    const next = withoutReturn(lines[from + count])
    joined += `\n${next}`
    quotes += quotesIn(next)
  }
}

/** @param {string} text */
function quotesIn (text) {
  return text.split('"').length - 1
}

/** @param {string} line */
function withoutReturn (line) {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** @param {string} line */
function delimiterOf (line) {
  const unquoted = line.replace(/"[^"]*"/g, '')
  return DELIMITERS.find(delimiter => unquoted.includes(delimiter)) ?? ','
}

/**
 * The lines of a file, block by block as they are read. Of one that is too long for a record, only the beginning is kept.
 * @param {string} file
 * @param {string} encoding
 * @returns {AsyncGenerator<string[], void>}
 */
async function * lineBlocks (file, encoding) {
  let rest = ''
  for await (const text of decoded(file, encoding)) {
    const lines = (rest + text).split('\n')
    rest = /** @type {string} */ (lines.pop()).slice(0, MAX_CHARACTERS_A_RECORD + 1)
    if (lines.length > 0) yield lines
  }
  if (rest !== '') yield [rest]
}

/** @param {string} file @param {string} encoding  of a file without the mark of UTF-16 @returns {AsyncGenerator<string, void>} */
async function * decoded (file, encoding) {
  /** @type {TextDecoder|undefined} */
  let decoder
  for await (const chunk of bytesOf(file, unreadable(file))) {
    decoder ??= new TextDecoder(UTF_16.equals(chunk.subarray(0, 2)) ? 'utf-16le' : encoding)
    yield decoder.decode(chunk, { stream: true })
  }
  if (decoder) yield decoder.decode()
}

/** @param {string} file @returns {import('../playback/recording.js').Unreadable} */
function unreadable (file) {
  return (reason, cause) => new SluiceError('SLUICE_CSV_FILE', `The CSV file ${file} cannot be read: ${reason}.`, {
    cause, fix: 'Check the path and its permissions.'
  })
}
