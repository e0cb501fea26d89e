/**
 * Where in the text of a TOML file something stands, which its parser does not tell. It goes by lines, and so does not see what is written
 * in ways that the template does not show, such as tables in one line.
 */

const HEADER = /^\s*\[(\[?)\s*([\w-]+)\s*\]?\]\s*(#.*)?$/

/**
 * @param {string} text
 * @param {string} table
 * @param {string|undefined} key  without it, or where it is missing, the line of the table itself
 * @param {number} [index]  which of the tables of that name
 * @returns {number|null} counted from 1
 */
export function lineOf (text, table, key, index = 0) {
  const found = find(text, table, key, index)
  return found.key ?? found.table
}

/**
 * The text with another line in the place of that of a key; as it was where there is no such line.
 * @param {string} text
 * @param {string} table
 * @param {string} key
 * @param {string} replacement
 */
export function replaceLine (text, table, key, replacement) {
  const { key: line } = find(text, table, key, 0)
  if (line === null) return text
  const lines = text.split('\n')
  lines[line - 1] = replacement + (lines[line - 1].endsWith('\r') ? '\r' : '')
  return lines.join('\n')
}

/** @param {string} text @param {string} table @param {string|undefined} key @param {number} index */
function find (text, table, key, index) {
  /** @type {{table: number|null, key: number|null}} */
  const found = { table: null, key: null }
  let left = index
  let isInside = false
  for (const [i, line] of text.split('\n').entries()) {
    const [, , name] = HEADER.exec(line) ?? []
    if (name !== undefined) isInside = name === table && left-- === 0
    if (isInside && name !== undefined) found.table = i + 1
    if (isInside && key !== undefined && keyOf(line) === key) found.key ??= i + 1
    if (name === undefined && key === undefined && keyOf(line) === table) found.table ??= i + 1
  }
  return found
}

/** @param {string} line */
function keyOf (line) {
  return /^\s*["']?([\w-]+)["']?\s*=/.exec(line)?.[1]
}
