import { Batch } from '../../batch/batch.js'
import { quoted } from '../gatherer.js'
import { columnsOf } from './columns.js'

/**
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {{batches: Batch[], refused: Refused[]}} Content
 */

/**
 * What has names and tags of its own, such as line protocol, also gets the tags of its topic, and the source that the mapping gives. With
 * that, all its tags are columns: one table has the rows of many devices.
 * @param {Content} content @param {import('./places.js').Place} place
 * @returns {Content}
 */
export function adopt ({ batches, refused }, { own, tags, oneRow }) {
  if (own === undefined && Object.keys(tags).length === 0) return { batches, refused }
  /** @type {Refused[]} */
  const clashes = []
  const adopted = batches.map(batch => {
    const kept = batch.fields.map((_, f) => f).filter(f => !Object.hasOwn(tags, batch.fields[f].name))
    if (kept.length < batch.fields.length) clashes.push(...clashesOf(batch, tags))
    const ownTags = own === undefined ? batch.tags : { ...batch.tags, ...columnsOf(textsOf(batch), batch.rows) }
    return new Batch({
      source: own ?? batch.source,
      time: batch.time,
      tags: { ...ownTags, ...batch.rows === 1 ? oneRow : columnsOf(tags, batch.rows) },
      fields: kept.map(f => batch.fields[f]),
      columns: kept.map(f => batch.columns[f]),
      validity: kept.map(f => batch.validity[f])
    })
  })
  return { batches: adopted.filter(({ fields }) => fields.length > 0), refused: [...refused, ...clashes] }
}

/** Its tags that are one text for all rows. @param {Batch} batch */
function textsOf ({ tags }) {
  return Object.fromEntries(Object.entries(tags).filter(entry => typeof entry[1] === 'string').map(([name, text]) => [name, String(text)]))
}

/** @param {Batch} batch @param {Record<string, string>} tags  of the topic @returns {Refused[]} */
function clashesOf (batch, tags) {
  return batch.fields.flatMap(({ name }, f) => Object.hasOwn(tags, name)
    ? { index: -1, reason: `${quoted(name)} is the name of a tag of the topic: rename that`, value: batch.value(f, 0), count: batch.rows }
    : [])
}
