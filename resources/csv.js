import { say } from './sentences.js'

/**
 * @file Comma-separated values as spreadsheets write, copy and read them (RFC 4180), whatever they mean.
 */

/**
 * A spreadsheet's file as text: UTF-8, UTF-16 with its mark, or what Windows writes where it is neither.
 * @param {Uint8Array} bytes
 */
export function decodeText (bytes) {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}

/**
 * @param {string} text
 * @returns {{cells: string[][], separator: '\t'|';'|','}} line by line, empty lines left out. The separator is the first of tab, semicolon
 *   and comma that is in the first line
 * @throws {Error} where a quote is not closed
 */
export function parseCsv (text) {
  const source = text.replace(/^\uFEFF/, '')
  const separator = separatorOf(source)
  /** @type {string[][]} */
  const cells = [[]]
  const token = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"([^${separator}\\r\\n]*)|([^${separator}\\r\\n]*))(${separator}|\\r\\n|\\r|\\n|$)`, 'y')
  while (token.lastIndex < source.length || cells[0].length === 0) {
    const start = token.lastIndex
    const [, quoted, behind, plain, end] = /** @type {RegExpExecArray} */ (token.exec(source))
    if (quoted === undefined && plain.startsWith('"')) {
      throw new Error(say('openQuote', { n: source.slice(0, start).split(/\r\n|\r|\n/).length }))
    }
    const line = /** @type {string[]} */ (cells.at(-1))
    line.push(quoted === undefined ? plain : quoted.replaceAll('""', '"') + behind)
    if (end === separator && token.lastIndex === source.length) line.push('')
    if (end !== separator && end !== '') cells.push([])
  }
  return { cells: cells.filter(line => line.some(cell => cell.trim() !== '')), separator }
}

/** @param {string} source */
function separatorOf (source) {
  const [firstLine] = source.replace(/"[^"]*"/g, '').trimStart().split(/[\r\n]/, 1)
  return (/** @type {const} */ (['\t', ';'])).find(separator => firstLine.includes(separator)) ?? ','
}

/**
 * @param {unknown[][]} rows  undefined and null are empty cells
 * @returns {string} with commas; a line ends in CR LF
 */
export function formatCsv (rows) {
  return rows.map(row => row.map(formatCell).join(',') + '\r\n').join('')
}

/** @param {unknown} cell */
function formatCell (cell) {
  const text = String(cell ?? '')
  return /[",;\t\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
