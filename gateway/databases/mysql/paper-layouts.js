import { Batch } from '../../batch/batch.js'
import { documents, floor } from '../../batch/layouts.js'
import { misfit } from '../wide.js'

/**
 * The two tables that Arnst, Plenk and Wöltche store samples of unsigned 16 bits in (Tables I and II of their paper), each as a batch of
 * other rows. Tags have no place in them.
 */

/** Their names. */
export const PAPER = /** @type {const} */ (['paper-individual', 'paper-bulk'])

const SECOND_NS = 1_000_000_000n

const WHOLE_NUMBERS = ['int32', 'int16', 'uint16', 'bool']

/**
 * A row per value: `second`, `nanosecond`, `number` (which field of the batch, from 0) and `measurement`. By time and field; missing values
 * have no row.
 * @param {Batch} batch
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_SINK_TABLE_MISFIT of fields that are not whole numbers of at most 32 bits
 */
export function individual (batch) {
  const { time, fields, columns, validity } = batch
  const unfit = fields.find(({ type }) => !WHOLE_NUMBERS.includes(type))
  if (unfit) {
    throw misfit(
      batch.source,
      `its column "measurement" holds whole numbers from 0 to 65535, and the field "${unfit.name}" is of type ${unfit.type}`,
      'Choose another layout.'
    )
  }
  const places = Array.from(time.keys()).flatMap(row => fields.flatMap((_, field) => validity[field]?.[row] === 0 ? [] : { row, field }))
  const seconds = time.map(each => floor(each, SECOND_NS) / SECOND_NS)
  return new Batch({
    source: batch.source,
    identity: batch.identity,
    time: BigInt64Array.from(places, ({ row }) => time[row]),
    fields: [
      { name: 'second', type: 'int64' },
      { name: 'nanosecond', type: 'int32' },
      { name: 'number', type: 'uint16' },
      { name: 'measurement', type: 'int32' }
    ],
    columns: [
      BigInt64Array.from(places, ({ row }) => seconds[row]),
      Int32Array.from(places, ({ row }) => Number(time[row] - seconds[row] * SECOND_NS)),
      Uint16Array.from(places, ({ field }) => field),
      Int32Array.from(places, ({ row, field }) => Number(columns[field][row]))
    ]
  })
}

/**
 * A row per second: `second`, `size` (the length of the text, in bytes) and `measurements`, a JSON text:
 * `{"measurements": [{"ns": 0, "m": [1, …]}, …]}`.
 * @param {Batch} batch
 */
export function bulk (batch) {
  const { time, fields: [, measurements], columns: [, documentTexts] } = documents(batch, SECOND_NS)
  // The names of the fields come first in a document; the paper's has none.
  const names = `{"fields":${JSON.stringify(batch.fields.map(({ name }) => name))},`
  const texts = /** @type {string[]} */ (documentTexts).map(text => `{${text.slice(names.length)}`)
  return new Batch({
    source: batch.source,
    identity: batch.identity,
    time,
    fields: [{ name: 'second', type: 'int64' }, { name: 'size', type: 'int32' }, measurements],
    columns: [time.map(each => each / SECOND_NS), Int32Array.from(texts, text => Buffer.byteLength(text)), texts]
  })
}
