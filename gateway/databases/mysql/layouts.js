import { arrangement, LAYOUTS, layoutProperties, MEASUREMENTS } from '../../batch/layouts.js'
import { UPSERT, upsertProperties, withUpsert } from '../upsert/layout.js'
import { newestByKey, withKey } from '../upsert/rows.js'
import { wideColumns } from '../wide.js'
import { dialect } from './dialect.js'
import { bulk, individual, PAPER } from './paper-layouts.js'

/**
 * The layouts of this sink: those that all sinks have, and the two of a paper.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').WideColumn} WideColumn
 *
 * @typedef {object} Layout
 * @property {(batch: Batch) => Batch} arrange  the rows to store
 * @property {(arranged: Batch, withSource: boolean) => WideColumn[]} columns  that they need
 * @property {{column: string, ns: bigint}} time  the column of whole numbers by which rows are older, and how long one of them is
 * @property {readonly string[]} key  the columns by which a new table is ordered or indexed
 * @property {boolean} ordersRows  the rows of a new table lie in the order of its key, made unique by a hidden number; it has no other
 *   index
 * @property {Record<string, string>} declarations  of columns that are not declared by their type alone
 * @property {boolean} holdsFloats  in columns of a floating point type
 */

/** The exact time and what SQL calls one, computed when it is read: it takes no room, and no time to write. */
const TIME = 'DATETIME(6) AS ' +
  '(TIMESTAMP\'1970-01-01 00:00:00\' + INTERVAL (`time_ns` DIV 1000 - (`time_ns` MOD 1000 < 0)) MICROSECOND) VIRTUAL'

/**
 * Columns that are declared otherwise than their values; a size is declared still wider.
 * @type {Record<string, import('../wide.js').ValueType>}
 */
const PAPER_TYPES = { size: 'uint16', measurement: 'uint16', measurements: 'json' }

/** The layouts' options. */
export const properties = {
  ...layoutProperties,
  ...upsertProperties,
  layout: withUpsert({
    ...layoutProperties.layout,
    description: `${layoutProperties.layout.description} paper-individual and paper-bulk: the tables of Arnst, Plenk and Wöltche, ` +
      'without tags: a row per value with second, nanosecond, number (of the field, from 0) and measurement (whole numbers from 0 to ' +
      '65535); a row per second with second, size (the text\'s length) and measurements, a JSON document without names.',
    enum: [...LAYOUTS, ...PAPER]
  })
}

const NANOSECONDS = { column: 'time_ns', ns: 1n }
const SECONDS = { column: 'second', ns: 1_000_000_000n }

/** @param {{layout: string, intervalMs: number, key: string[]}} options @returns {Layout} */
export function layoutOf ({ layout, intervalMs, key }) {
  switch (layout) {
    case UPSERT: return {
      arrange: newestByKey(key),
      columns: (arranged, withSource) => withKey(wideColumns(arranged, dialect, withSource), arranged, { layout, key }),
      time: NANOSECONDS,
      key: [],
      ordersRows: true,
      declarations: { time: TIME },
      holdsFloats: true
    }
    case 'paper-individual': return paperLayout(individual, ['second', 'nanosecond'])
    case 'paper-bulk': return paperLayout(bulk, ['second'])
    default: return {
      arrange: arrangement(/** @type {any} */ ({ layout, intervalMs })),
      columns: (arranged, withSource) => wideColumns(arranged, dialect, withSource, layout === 'document' ? MEASUREMENTS : undefined),
      time: NANOSECONDS,
      key: layout === 'narrow' ? ['time_ns', 'sensor'] : ['time_ns'],
      ordersRows: true,
      declarations: { time: TIME, ...layout === 'narrow' && { sensor: 'VARCHAR(255)' } },
      holdsFloats: layout !== 'document'
    }
  }
}

/**
 * @param {(batch: Batch) => Batch} arrange
 * @param {string[]} key
 * @returns {Layout}
 */
function paperLayout (arrange, key) {
  return {
    arrange,
    columns: ({ fields }, withSource) => [
      ...withSource ? [/** @type {WideColumn} */ ({ name: 'source', type: 'string', origin: 'source' })] : [],
      ...fields.map(({ name, type }, field) => {
        return /** @type {WideColumn} */ ({ name, type: PAPER_TYPES[name] ?? type, origin: 'field', field })
      })
    ],
    time: SECONDS,
    key,
    ordersRows: false,
    declarations: { size: 'INT UNSIGNED' },
    holdsFloats: false
  }
}
