/**
 * What identifies where rows come from, such as a device: a text for all rows of a batch, or a column of them.
 *
 * @typedef {object} TagColumn
 * @property {string[]} values  one per row; '' where it is missing
 * @property {Uint8Array|null} valid  null when every row has it, else 1 = there, 0 = missing
 *
 * @typedef {string|TagColumn} Tag
 * @typedef {Record<string, Tag>} Tags
 */

/** The tag of a row; undefined where it has none. @param {Tag} tag @param {number} row */
export function tagAt (tag, row) {
  if (typeof tag === 'string') return tag
  return tag.valid?.[row] === 0 ? undefined : tag.values[row]
}

/** All tags of a row. @param {Tags} tags @param {number} row @returns {Record<string, string>} */
export function tagsAt (tags, row) {
  const entries = Object.entries(tags).map(([name, tag]) => [name, tagAt(tag, row)])
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** Those that vary by row. @param {Tags} tags @returns {[name: string, column: TagColumn][]} */
export function tagColumns (tags) {
  /** @type {[name: string, column: TagColumn][]} */
  const columns = []
  for (const name in tags) { // of each batch, and most have none
    const tag = tags[name]
    if (typeof tag !== 'string') columns.push([name, tag])
  }
  return columns
}

/**
 * The tags of other rows: `change` makes their column of that of all rows.
 * @param {Tags} tags
 * @param {(column: TagColumn) => TagColumn} change
 * @returns {Tags}
 */
export function changedTags (tags, change) {
  const columns = tagColumns(tags)
  return columns.length === 0 ? tags : { ...tags, ...Object.fromEntries(columns.map(([name, column]) => [name, change(column)])) }
}

/** The tag of some rows, in that order. @param {TagColumn} column @param {ArrayLike<number>} rows @returns {TagColumn} */
export function rowsOf ({ values, valid }, rows) {
  return { values: Array.from(rows, row => values[row]), valid: valid && Uint8Array.from(rows, row => valid[row]) }
}

/**
 * A tag of several parts: a text where all have the same, else a column.
 * @param {{rows: number, tag: Tag|undefined}[]} parts
 * @returns {Tag}
 */
export function joinedTag (parts) {
  const [{ tag: first }] = parts
  if (typeof first === 'string' && parts.every(({ tag }) => tag === first)) return first
  const rows = parts.reduce((sum, part) => sum + part.rows, 0)
  const values = new Array(rows)
  const valid = new Uint8Array(rows).fill(1)
  let at = 0
  for (const { rows: count, tag } of parts) {
    if (tag === undefined || typeof tag === 'string') {
      values.fill(tag ?? '', at, at + count)
      if (tag === undefined) valid.fill(0, at, at + count)
    } else {
      for (let row = 0; row < count; row++) values[at + row] = tag.values[row]
      if (tag.valid) valid.set(tag.valid, at)
    }
    at += count
  }
  return { values, valid: valid.includes(0) ? valid : null }
}
