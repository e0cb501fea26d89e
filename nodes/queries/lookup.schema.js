import { tableProperties } from '../../gateway/databases/reading/table.js'
import { resultProperties } from '../../gateway/queries/run.js'
import { nodeSchema } from '../schema.js'
import { parallel } from './answering.js'
import { databaseOptions, requiringServers } from './reader-options.js'

/** Databases whose readers read by key. */
const TYPES = ['sqlite', 'duckdb', 'postgresql', 'mysql', 'mongodb', 'cassandra']

const { table, source, timeColumn } = tableProperties

export const schema = requiringServers(nodeSchema({
  properties: {
    ...databaseOptions(TYPES),
    table: {
      ...table,
      description: 'The table to read, for MongoDB the collection: as named by the sink, with {source} filled in.'
    },
    key: {
      type: 'array',
      title: 'Key',
      description: 'The fields or tags by which a row is known, as in the sink with the layout upsert.',
      items: { type: 'string', title: 'Field or tag' },
      minItems: 1,
      maxItems: 3,
      default: ['id']
    },
    source: { ...source, 'x-labels': { '': 'all' } },
    times: { ...resultProperties.times, 'x-advanced': true },
    timeColumn,
    parallel
  }
}), TYPES)
