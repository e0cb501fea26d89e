/**
 * A row as text, so that rows of the ledger and of every database compare: its time and each value that is there, in the order of the
 * names.
 * @param {string[]} names  of the columns
 * @returns {(time: bigint, valueAt: (column: number) => unknown) => string}
 */
export function keyWriter (names) {
  const order = names.map((_, column) => column).sort((a, b) => names[a] < names[b] ? -1 : 1)
  return (time, valueAt) => {
    let key = String(time)
    for (const column of order) {
      const value = valueAt(column)
      if (value != null) key += ` ${names[column]}=${plain(value)}`
    }
    return key
  }
}

/** Databases differ in how they give whole numbers and booleans back. @param {unknown} value */
function plain (value) {
  if (typeof value === 'string') return JSON.stringify(value)
  return String(typeof value === 'boolean' ? Number(value) : value)
}
