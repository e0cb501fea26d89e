import { asciiName } from '../names.js'

const MAX_NAME_LETTERS = 127

/**
 * QuestDB as the wide layout sees it. Columns' kinds are its types. What has no NULL there is stored as a type that has: BOOLEAN and SHORT
 * would hold false and 0 for what is missing; and the least INT is NULL.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'QuestDB',
  maxNameBytes: 1000,
  maxColumns: 2000,
  fold: name => name.toLowerCase(),
  timeColumns: [],
  ownNames: ['time', 'timestamp', 'source', 'sluice_batch', 'sluice_row'],
  columnTypes: {
    time: 'TIMESTAMP_NS', time_ns: 'LONG', float64: 'DOUBLE', float32: 'FLOAT', int64: 'LONG', int32: 'LONG', int16: 'INT', uint16: 'INT',
    bool: 'INT', string: 'VARCHAR', json: 'VARCHAR', bytes: 'VARCHAR'
  },
  accepts: {
    time: ['TIMESTAMP_NS'],
    time_ns: ['LONG'],
    float64: ['DOUBLE'],
    float32: ['FLOAT', 'DOUBLE'],
    int64: ['LONG'],
    int32: ['LONG', 'DOUBLE'],
    int16: ['INT', 'LONG', 'DOUBLE'],
    uint16: ['INT', 'LONG', 'DOUBLE'],
    bool: ['INT', 'LONG'],
    string: ['VARCHAR', 'SYMBOL'],
    json: ['VARCHAR'],
    bytes: ['VARCHAR']
  }
}

/** What a table or column of that name is called. @param {string} name */
export const nameIn = name => asciiName(name, MAX_NAME_LETTERS)
