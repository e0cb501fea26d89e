/** What stands after a backslash for what it is itself not. @type {Record<string, string>} */
const ESCAPES = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', 0: '\0' }

/**
 * The cells of a row in ClickHouse's format TabSeparated.
 * @param {string} line
 * @returns {(string|null)[]} null of NULL
 */
export function cellsOf (line) {
  const cells = line.split('\t')
  return line.includes('\\') ? cells.map(cell => cell === '\\N' ? null : unescaped(cell)) : cells
}

/** @param {string} cell */
function unescaped (cell) {
  return cell.includes('\\') ? cell.replace(/\\(.)/gs, (_, letter) => ESCAPES[letter] ?? letter) : cell
}
