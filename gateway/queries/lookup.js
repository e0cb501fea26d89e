import { Batch } from '../batch/batch.js'
import { tagAt } from '../batch/tags.js'
import { SluiceError } from '../base/errors.js'

/**
 * Reading whole rows by key.
 *
 * @typedef {import('../databases/reader.js').Reader} Reader
 * @typedef {import('../databases/reader.js').KeyValue} KeyValue
 * @typedef {import('../databases/reader.js').KeyedRow} KeyedRow
 */

/** Of a message: all their rows are held in memory. */
export const MAX_KEYS = 10_000

/**
 * The keys that a payload asks for: a batch's, or of an object, an array of objects, or a bare value of the only name.
 * @param {unknown} payload
 * @param {string[]} names
 * @returns {KeyValue[][]}
 * @throws {SluiceError} SLUICE_QUERY_MESSAGE
 */
export function keysAsked (payload, names) {
  const keys = payload instanceof Batch ? keysOfBatch(payload, names) : [payload].flat().map(each => keyOf(each, names))
  if (keys.length > MAX_KEYS) {
    throw new SluiceError('SLUICE_QUERY_MESSAGE', `The message asks for ${keys.length} keys; ${MAX_KEYS} may be asked for at once.`, {
      fix: 'Split it.'
    })
  }
  return keys
}

/**
 * The rows with these keys, null where there is none; where several gateways or sources have stored one, that with the latest time.
 * @param {Reader} reader
 * @param {string[]} names
 * @param {KeyValue[][]} keys
 * @param {AbortSignal} [signal]
 * @returns {Promise<(KeyedRow|null)[]>} in the order of the keys
 */
export async function lookUp (reader, names, keys, signal) {
  if (!reader.byKey) {
    throw new SluiceError('SLUICE_QUERY_PARAMETERS', 'Rows of this database are not read by key.', { fix: 'Use another database.' })
  }
  const textOf = (/** @type {unknown[]} */ key) => JSON.stringify(key.map(String))
  const asked = new Map(keys.map(key => [textOf(key), key]))
  /** @type {Map<string, KeyedRow>} */
  const found = new Map()
  if (asked.size > 0) {
    for (const { key: its, row } of await reader.byKey({ names, keys: [...asked.values()], signal })) {
      const key = textOf(its)
      const other = found.get(key)
      if (!other || other.time < row.time) found.set(key, row)
    }
  }
  return keys.map(key => found.get(textOf(key)) ?? null)
}

/** @param {Batch} batch @param {string[]} names */
function keysOfBatch (batch, names) {
  const columns = names.map(name => {
    const field = batch.fields.findIndex(each => each.name === name)
    const tag = batch.tags[name]
    if (field === -1 && tag === undefined) throw missing(name)
    return (/** @type {number} */ row) => field === -1 ? typeof tag === 'string' ? tag : tagAt(tag, row) : batch.value(field, row)
  })
  return Array.from(batch.time.keys(), row => columns.map((valueOf, i) => valueAsKey(valueOf(row), names[i])))
}

/** @param {any} given @param {string[]} names */
function keyOf (given, names) {
  const isObject = typeof given === 'object' && given !== null
  if (!isObject && names.length === 1) return [valueAsKey(given, names[0])]
  return names.map(name => valueAsKey(isObject ? given[name] : undefined, name))
}

/** @param {unknown} value @param {string} name @returns {KeyValue} */
function valueAsKey (value, name) {
  if (typeof value === 'string' || typeof value === 'bigint' || Number.isSafeInteger(value)) return /** @type {KeyValue} */ (value)
  throw missing(name)
}

/** @param {string} name */
function missing (name) {
  return new SluiceError('SLUICE_QUERY_MESSAGE', `The message has no key "${name}" that is a text or a whole number.`, {
    fix: `Send an object such as {${name}: "a"}, an array of them, or a batch with that field or tag.`
  })
}
