/**
 * Names and texts as ClickHouse's SQL has them, whatever they contain.
 */

/** @param {string} name */
export function identifier (name) {
  return `\`${escaped(name).replaceAll('`', '\\`')}\``
}

/** @param {string} text */
export function literal (text) {
  return `'${escaped(text).replaceAll('\'', '\\\'')}'`
}

/** @param {string} text */
function escaped (text) {
  return text.replaceAll('\\', '\\\\').replaceAll('\0', '\\0')
}
