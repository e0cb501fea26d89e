import { Batch } from '../../../batch/batch.js'
import { Joint } from '../../../batch/join.js'
import { CellBudget, MAX_TAGS } from '../../bounds.js'

/**
 * @typedef {{batch: Batch, indices: ArrayLike<number>}} Part  `indices`: where its rows stand in the message; none where that is unknown
 * @typedef {{joint: Joint, tags: Set<string>, tagBudget: CellBudget, indices: number[]}} Group  of parts that become one batch
 */

/** Groups that are looked at for one more part. */
const MAX_OPEN_GROUPS = 8

/**
 * Few batches with the rows of one source: fields of one name have one type in each, and not much is missing, in fields and in tags.
 * @param {Part[]} parts
 * @returns {Part[]}
 */
export function together (parts) {
  /** @type {Group[]} */
  const groups = []
  for (const { batch, indices } of parts) {
    let group = groups.slice(-MAX_OPEN_GROUPS).find(each => goesWith(batch, each))
    if (!group) {
      groups.push(group = { joint: new Joint(), tags: new Set(), tagBudget: new CellBudget(), indices: [] })
      goesWith(batch, group)
    }
    group.joint.add(batch)
    for (let row = 0; row < indices.length; row++) group.indices.push(indices[row])
  }
  return groups.map(inOrder)
}

/** @param {Batch} batch @param {Group} group */
function goesWith (batch, { joint, tags, tagBudget }) {
  if (!joint.takes(batch)) return false
  const names = Object.keys(batch.tags)
  const added = names.filter(name => !tags.has(name))
  if (tags.size + added.length > MAX_TAGS) return false
  const cells = (joint.rows + batch.rows) * (tags.size + added.length) - joint.rows * tags.size
  if (tagBudget.take(names.length * batch.rows, cells)) return false
  for (const name of added) tags.add(name)
  return true
}

/** Its rows as they came. @param {Group} group @returns {Part} */
function inOrder ({ joint, indices }) {
  const batch = joint.batch()
  if (indices.every((index, row) => row === 0 || index > indices[row - 1])) return { batch, indices }
  const order = Array.from(indices.keys()).sort((a, b) => indices[a] - indices[b])
  return { batch: new Batch({ ...batch.pick(order), origin: null }), indices: order.map(row => indices[row]) }
}
