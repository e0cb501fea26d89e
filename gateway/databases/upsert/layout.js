import { EPOCH, keyProblem, ORIGIN, SEQ, UPSERT_COLUMNS } from '../../../resources/upserts.js'
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

export { EPOCH, ORIGIN, SEQ, UPSERT_COLUMNS }

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
    'x-check': 'upsert-key',
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
  const problem = layout === UPSERT ? keyProblem(key) : undefined
  if (problem) throw new SluiceError('SLUICE_OPTIONS', problem)
}
