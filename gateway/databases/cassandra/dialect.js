import { floor } from '../../batch/layouts.js'
import { asciiName } from '../names.js'

/**
 * Cassandra as the wide layout sees it. Columns' kinds are the types of CQL.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'Cassandra',
  // Each cell of a row repeats the name in memory, though not on disk.
  maxNameBytes: 1100,
  maxColumns: 2000,
  fold: name => name,
  timeColumns: [{ name: 'time', type: 'time', origin: 'time' }, { name: 'time_ns', type: 'time_ns', origin: 'time' }],
  ownNames: ['time', 'time_ns', 'source', 'bucket', 'sluice_id'],
  columnTypes: {
    time: 'timestamp', time_ns: 'bigint', float64: 'double', float32: 'float', int64: 'bigint', int32: 'int', int16: 'smallint',
    uint16: 'int', bool: 'boolean', string: 'text', json: 'text', bytes: 'blob'
  },
  accepts: {
    time: ['timestamp'],
    time_ns: ['bigint'],
    float64: ['double'],
    float32: ['float', 'double'],
    int64: ['bigint'],
    int32: ['int', 'bigint', 'double'],
    int16: ['smallint', 'int', 'bigint', 'float', 'double'],
    uint16: ['int', 'bigint', 'float', 'double'],
    bool: ['boolean'],
    string: ['text'],
    json: ['text'],
    bytes: ['blob']
  }
}

const MAX_TABLE_LETTERS = 48

const NS_PER_MS = 1_000_000n

/** The table that has a name, as Cassandra can have it. @param {string} name */
export const tableName = name => asciiName(name, MAX_TABLE_LETTERS)

/** The column time of a row of that time, as the driver takes it. @param {bigint} ns */
export function timestamp (ns) {
  const buffer = Buffer.alloc(8)
  buffer.writeBigInt64BE(floor(ns, NS_PER_MS) / NS_PER_MS)
  return buffer
}
