/** @typedef {import('../../batch/tags.js').TagColumn} TagColumn */

/** Tags that all rows have, as columns. @param {Record<string, string>} tags @param {number} rows @returns {Record<string, TagColumn>} */
export function columnsOf (tags, rows) {
  return Object.fromEntries(Object.entries(tags).map(([name, value]) => [name, { values: new Array(rows).fill(value), valid: null }]))
}
