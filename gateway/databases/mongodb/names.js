import { SluiceError } from '../../base/errors.js'
import { tableNames } from '../names.js'
import { UPSERT, UPSERT_COLUMNS } from '../upsert/layout.js'
import { misfit, wideColumns } from '../wide.js'

/**
 * Names of collections, and of the keys of documents.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./sink.schema.js').schema['properties']['layout']['enum'][number]} Layout
 * @typedef {{key: string, field: number}} FieldKey
 * @typedef {{constants: {key: string, tag: string|null}[], hasMeta: boolean, fields: FieldKey[]}} Keys  of one shape of batch:
 *   `constants` are tags, or without one the source; `hasMeta`: they are in a document of their own; `fields` are those of the batch, or
 *   what replaces them in the layout
 */

/** Of "database.collection", since MongoDB 4.4. */
const MAX_NAMESPACE_BYTES = 255

/** MongoDB has no limit, but each document repeats its keys. */
const MAX_KEY_BYTES = 1024

export const OWN_KEYS = ['_id', 'time', 'time_ns', 'source']

/** The keys that a layout has instead of fields. @type {Partial<Record<Layout, readonly string[]>>} */
const LAYOUT_KEYS = {
  narrow: ['sensor', 'value', 'value_int64', 'value_string', 'value_bytes'],
  document: ['size', 'fields', 'measurements'],
  'paper-individual': ['sensors'],
  'paper-bulk': ['measurements']
}

/** @param {string} database @returns {import('../names.js').NameRules} */
export function nameRules (database) {
  return { product: 'MongoDB', maxNameBytes: MAX_NAMESPACE_BYTES - Buffer.byteLength(`${database}.`), fold: name => name }
}

/** The collections that a template names. @param {string} template @param {string} database @returns {import('../names.js').TableNames} */
export function collectionNames (template, database) {
  const names = tableNames(template, nameRules(database))
  return {
    ...names,
    of (source) {
      const name = names.of(source)
      const wrong = name.includes('$')
        ? 'contains $'
        : name.startsWith('system.')
          ? 'begins with "system."'
          : name.split('.').includes('') && 'begins or ends with a full stop, or has two in a row'
      if (!wrong) return name
      throw new SluiceError('SLUICE_SINK_IDENTIFIER', `The collection name "${name}" ${wrong}, which MongoDB does not accept.`, {
        fix: 'Rename the source, or set another collection.'
      })
    }
  }
}

/**
 * The keys of a batch's documents.
 * @param {Batch} batch
 * @param {Layout} layout
 * @param {{collection: string, withSource: boolean}} place  `withSource`: the collection holds several sources
 * @returns {Keys}
 * @throws {SluiceError} SLUICE_SINK_IDENTIFIER, SLUICE_SINK_TABLE_MISFIT
 */
export function keysOf (batch, layout, { collection, withSource }) {
  const hasMeta = layout === 'timeseries'
  /** @type {any} */
  const dialect = {
    product: 'the MongoDB sink',
    maxNameBytes: MAX_KEY_BYTES,
    fold: (/** @type {string} */ name) => name,
    timeColumns: [],
    ownNames: [...OWN_KEYS, ...hasMeta ? ['meta'] : [], ...layout === UPSERT ? UPSERT_COLUMNS : []]
  }
  const fields = LAYOUT_KEYS[layout]?.map(name => ({ name, type: 'string' })) ?? batch.fields
  const columns = wideColumns(/** @type {any} */ ({ fields, tags: batch.tags }), dialect, withSource || hasMeta)
  const keys = columns.map(({ name }) => keyOf(name))
  const twice = keys.find((key, i) => keys.indexOf(key) !== i)
  if (twice !== undefined) {
    throw misfit(collection, `two fields or tags would both be stored under the key "${twice}"`, 'Rename one of them.')
  }

  /** @type {Keys} */
  const result = { constants: [], hasMeta, fields: [] }
  columns.forEach(({ origin, tag = null, field = 0 }, i) => {
    if (origin === 'field') result.fields.push({ key: keys[i], field })
    else result.constants.push({ key: keys[i], tag })
  })
  return result
}

/** What is the same in all documents of a batch. @param {Keys} keys @param {Batch} batch @returns {Map<string, unknown>} */
export function constantsOf ({ constants, hasMeta }, { source, tags }) {
  const values = new Map(constants.map(({ key, tag }) => [key, tag === null ? source : tags[tag]]))
  return hasMeta ? new Map([['meta', values]]) : values
}

/** A name as queries can use it: a full stop would lead into a document within, a leading $ would be an operator. @param {string} name */
export function keyOf (name) {
  return name.replaceAll('.', '．').replace(/^\$/, '＄')
}
