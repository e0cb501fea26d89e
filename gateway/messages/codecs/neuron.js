import { typeOf, whyNot } from '../payload.js'
import { Gatherer, nameFault, quoted } from '../gatherer.js'
import { QUALITY_FIELD, qualityText } from '../../batch/quality.js'
import { isPlainObject } from '../rows.js'
import { parseTime } from '../../batch/time.js'
import { describe } from '../../base/errors.js'
import { MAX_FIELDS, tooLarge } from '../bounds.js'

/**
 * What EMQX Neuron publishes of a group of tags, in both of its JSON formats: `{node, group, timestamp, values: {…}, errors: {…}}` and
 * `{node, group, timestamp, tags: [{name, value} or {name, error}]}`, times in milliseconds.
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
  /** @type {import('../series.js').Cell[]} */
  const cells = []
  /** @type {{name: string, value?: unknown, error?: unknown}[]} */
  const tags = payload.tags ?? Object.entries(payload.values).map(([name, value]) => ({ name, value }))
  const tagErrors = tags.filter(({ error }) => error).map(({ name, error }) => /** @type {const} */ ([name, error]))
  const errors = [...Object.entries(payload.errors ?? {}), ...tagErrors]
  if (tags.length + errors.length > MAX_FIELDS) {
    const reason = describe(tooLarge(`it has ${tags.length + errors.length} tags and errors, and a row has at most ${MAX_FIELDS} fields`))
    return { batches: [], refused: [{ index: -1, reason, value: payload }] }
  }
  const names = new Set()
  for (const { name: ownName, value } of tags) {
    if (value == null) continue
    const name = ownName === QUALITY_FIELD ? `${QUALITY_FIELD}_2` : ownName
    const type = typeOf(value)
    const reason = !type ? whyNot(value) : names.has(name) ? 'occurs twice' : nameFault(name)
    names.add(name)
    if (reason) refused.push({ index: 0, reason: `${quoted(name)} ${reason}`, value })
    else cells.push({ name, type: /** @type {import('../../batch/batch.js').FieldType} */ (type), value })
  }
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
