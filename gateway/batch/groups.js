import { Batch, pickOf } from './batch.js'
import { tagAt, tagColumns, tagsAt } from './tags.js'

/**
 * A batch in parts, in each of which all rows have the same tags, under the identity of the whole. Rows keep their numbers.
 * @param {Batch} batch
 * @returns {Batch[]}
 */
export function byTags (batch) {
  const columns = tagColumns(batch.tags).map(([, column]) => column)
  if (columns.length === 0 || batch.rows === 0) return [batch]
  /** @type {Map<string|undefined, number[]>} */
  const groups = new Map()
  for (let row = 0; row < batch.rows; row++) {
    const key = columns.length === 1 ? tagAt(columns[0], row) : JSON.stringify(columns.map(column => tagAt(column, row) ?? null))
    const rows = groups.get(key)
    if (rows) rows.push(row)
    else groups.set(key, [row])
  }
  return Array.from(groups.values(), rows => new Batch({ ...pickOf(batch, rows), tags: tagsAt(batch.tags, rows[0]) }))
}
