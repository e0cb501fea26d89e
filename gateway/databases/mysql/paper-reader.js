import { floor } from '../../batch/layouts.js'
import { readDialect } from './dialect.js'

/**
 * How the tables of Arnst, Plenk and Wöltche are read: as narrow ones or as documents, whose time is in whole seconds and, of single
 * values, the nanoseconds since. Sensors are the numbers of the fields, from 0.
 *
 * @typedef {import('../reading/table.js').TableOptions} TableOptions
 * @typedef {import('../sql/read-dialect.js').ReadDialect} ReadDialect
 */

const SECOND_NS = 1_000_000_000n

/** What an index finds. @type {import('../sql/read-dialect.js').Timestamps['within']} */
const within = ({ from, to }, add) => {
  const [first, last] = [from, to].map(ns => add(floor(ns, SECOND_NS) / SECOND_NS, 'int64'))
  return `\`second\` >= ${first} AND \`second\` <= ${last}`
}

/** @param {import('../sql/read-dialect.js').Timestamps} timestamps @returns {ReadDialect} */
const inSeconds = timestamps => ({
  ...readDialect,
  timeTypes: 'bigint, in seconds',
  isNanoseconds: () => false,
  timestamps: () => timestamps
})

/** @type {Record<string, {options: Partial<TableOptions>, dialect: ReadDialect}>} */
const READINGS = {
  'paper-individual': {
    options: { layout: 'narrow', timeColumn: 'second', sensorColumn: 'number', valueColumn: 'measurement' },
    dialect: inSeconds({ nanoseconds: '(`second` * 1000000000 + `nanosecond`)', within, order: ['`second`', '`nanosecond`'] })
  },
  'paper-bulk': {
    options: { layout: 'document', timeColumn: 'second', intervalMs: 1000 },
    dialect: inSeconds({ nanoseconds: '(`second` * 1000000000)', within })
  }
}

/**
 * The options and dialect by which a table of any layout is read.
 * @param {TableOptions} options
 * @returns {{options: TableOptions, dialect: ReadDialect}}
 */
export function readingOf (options) {
  const reading = READINGS[options.layout]
  return reading ? { options: { ...options, ...reading.options }, dialect: reading.dialect } : { options, dialect: readDialect }
}
