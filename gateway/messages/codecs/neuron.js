import { cellsOf } from '../cells.js'
import { Gatherer, quoted } from '../gatherer.js'
import { QUALITY_FIELD, qualityText } from '../../batch/quality.js'
import { isBare, isPlainObject } from '../rows.js'
import { parseTime } from '../../batch/time.js'
import { describe } from '../../base/errors.js'
import { MAX_FIELDS, tooLarge } from '../bounds.js'

/**
 * What EMQX Neuron publishes of a group of tags, in both of its JSON formats: `{node, group, timestamp, values: {…}, errors: {…}}` and
 * `{node, group, timestamp, tags: [{name, value} or {name, error}]}`, times in milliseconds. A tag may be an array of plain values.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../payload.js').Refused} Refused
 */

/** Whether a parsed JSON payload is Neuron's. @param {unknown} payload */
export function isNeuron (payload) {
  if (!isPlainObject(payload) || typeof payload.node !== 'string' || typeof payload.group !== 'string') return false
  const { tags, values } = payload
  return isPlainObject(values) || (Array.isArray(tags) && tags.every(tag => isPlainObject(tag) && typeof tag.name === 'string'))
}

/**
 * One row; a tag with an error is missing, and the row's quality says which error (a tag that is itself called `quality` becomes
 * `quality_2`). Node and group are tags of the batch.
 * @param {any} payload
 * @param {{source?: string, now: () => bigint}} options
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function decodeNeuron (payload, { source, now }) {
  const { node, group, timestamp } = payload
  /** @type {Refused[]} */
  const refused = []
  /** @type {{name: string, value?: unknown, error?: unknown}[]} */
  const tags = payload.tags ?? Object.entries(payload.values).map(([name, value]) => ({ name, value }))
  const tagErrors = tags.filter(({ error }) => error).map(({ name, error }) => /** @type {const} */ ([name, error]))
  const errors = [...Object.entries(payload.errors ?? {}), ...tagErrors]
  /** @type {Record<string, unknown>} */
  const values = Object.create(null)
  let count = errors.length
  for (const [ownName, value] of tags.flatMap(elementsOf)) {
    const name = ownName === QUALITY_FIELD ? `${QUALITY_FIELD}_2` : ownName
    if (value == null) continue
    if (++count > MAX_FIELDS) {
      const reason = describe(tooLarge(`it has over ${MAX_FIELDS} values and errors, and a row has at most that many fields`))
      return { batches: [], refused: [{ index: -1, reason, value: payload }] }
    }
    if (name in values) refused.push({ index: 0, reason: `${quoted(name)} occurs twice`, value })
    else values[name] = value
  }
  const cells = cellsOf(Object.keys(values), values, (reason, value) => refused.push({ index: 0, reason, value }))
  const quality = qualityText(new Map(errors.map(([name, code]) => [name, `error ${code}`])), cells.length + errors.length)
  if (quality) cells.push({ name: QUALITY_FIELD, type: 'string', value: quality })
  const gatherer = new Gatherer()
  try {
    const ns = timestamp == null ? now() : parseTime(timestamp, 'ms')
    const reason = cells.length === 0 ? 'it holds no values' : gatherer.take(source, { node, group }, ns, cells)
    if (reason) refused.push({ index: -1, reason, value: payload })
  } catch (error) {
    refused.push({ index: -1, reason: describe(error), value: payload })
  }
  return { batches: gatherer.batches(), refused }
}

/** The values of a tag, by name: those of an array have its name and their number. @param {{name: string, value?: unknown}} tag */
function elementsOf ({ name, value }) {
  const isArray = Array.isArray(value) && value.length <= MAX_FIELDS && value.every(isBare)
  return isArray ? value.map((item, i) => /** @type {const} */ ([`${name}${i}`, item])) : [/** @type {const} */ ([name, value])]
}
