import { SluiceError } from '../../base/errors.js'
import { LAYOUTS, layoutProperties } from '../../batch/layouts.js'

/**
 * The layout of a row per key: as wide, but a batch's rows take the place of older ones with their key.
 *
 * A key belongs to one source of one gateway, as only the batches of one can be told older and newer: by the counter of the epoch, then
 * seq, then the row. So a row is known by the key and `sluice_origin`, and has `sluice_epoch` and `sluice_seq`: it is replaced only by a
 * newer one, and batches that come again, or late, leave what an orderly arrival would have left.
 */

export const UPSERT = 'upsert'

export const ORIGIN = 'sluice_origin'
export const EPOCH = 'sluice_epoch'
export const SEQ = 'sluice_seq'

/** The columns that a table has because of this layout. */
export const UPSERT_COLUMNS = [ORIGIN, EPOCH, SEQ]

const DESCRIPTION = 'upsert: a row per key, the newest, with columns as wide; sluice_origin tells gateways and sources apart, each of ' +
  'which has keys of its own, and sluice_epoch and sluice_seq tell which row is newer.'

export const UPSERT_LABEL = { [UPSERT]: 'upsert: a row per key' }

/** The options of a sink that has this layout, too. */
export const upsertProperties = {
  layout: {
    ...layoutProperties.layout,
    description: `${layoutProperties.layout.description} ${DESCRIPTION}`,
    enum: [...LAYOUTS, UPSERT]
  },
  key: {
    type: 'array',
    title: 'Key',
    description: 'The fields or tags by which a row is known: texts of up to 255 characters, or whole numbers. Each row must have ' +
      'them all.',
    items: { type: 'string', title: 'Field or tag' },
    maxItems: 3,
    default: [],
    'x-when': { layout: UPSERT }
  }
}

/**
 * Another layout property with this layout in it.
 * @template {{description: string, enum: readonly string[]}} Property
 * @param {Property} property
 */
export function withUpsert (property) {
  return { ...property, description: `${property.description} ${DESCRIPTION}`, enum: [...property.enum, UPSERT] }
}

/** @param {{layout?: string, key?: string[]}} options  of a sink @throws {SluiceError} SLUICE_OPTIONS */
export function checkKey ({ layout, key = [] }) {
  if (layout !== UPSERT) return
  const own = key.find(name => UPSERT_COLUMNS.includes(name))
  if (key.length > 0 && own === undefined) return
  const problem = own ? `The key of the layout "upsert" cannot be its own column "${own}".` : 'The layout "upsert" has no key.'
  throw new SluiceError('SLUICE_OPTIONS', problem, { fix: 'Name the fields or tags by which a row is known.' })
}
