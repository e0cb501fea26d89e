import { queries } from '../../gateway/queries/index.js'
import { resultProperties } from '../../gateway/queries/run.js'
import { readerTypes } from '../../gateway/databases/index.js'
import { tableProperties } from '../../gateway/databases/reading/table.js'
import { schema as mysql } from '../../gateway/databases/mysql/reader.schema.js'
import { nodeSchema } from '../schema.js'
import { layoutOption } from '../sinks/sink.schema.js'
import { parallel } from './answering.js'
import { databaseOptions, requiringServers } from './reader-options.js'

/** @typedef {import('../../resources/options.js').Property} Property */

const types = Object.keys(readerTypes)

const query = {
  type: 'string',
  title: 'Query',
  description: 'What to query, unless the message says: raw values; the intervals in which one sensor was out of range; the standard ' +
    'deviation; the means of intervals; the difference of two sensors\' means; a machine\'s cycle and its sums.',
  enum: Object.keys(queries),
  'x-labels': Object.fromEntries(Object.entries(queries).map(([name, { title }]) => [name, title])),
  default: 'raw'
}

/** The form's names for choices, and what empty fields mean. @type {Record<string, Record<string, string>>} */
const labels = {
  source: { '': 'all' },
  from: { '': 'the window before To' },
  to: { '': 'now' },
  at: { '': 'any time in the range' },
  restart: { '': 'none' },
  lower: { '': 'none' },
  upper: { '': 'none' },
  strategy: {
    individual: 'individual: the database searches',
    bulk: 'bulk: two seconds of all sensors',
    'bulk-1': 'bulk-1: two seconds of the angle'
  },
  times: { iso: 'iso: text, nine decimals', bigint: 'bigint: nanoseconds since 1970' }
}

/** The table's options in words that apply to every database. */
const table = {
  ...tableProperties,
  table: {
    ...tableProperties.table,
    description: 'The table to read, for MongoDB the collection, for InfluxDB the measurement, for Warp 10 the label id: as named by ' +
      'the sink, with {source} filled in.'
  },
  layout: {
    ...layoutOption({ properties: mysql.properties }).properties.layout,
    description: `${tableProperties.layout.description} A database has the layouts of its sink. ` +
      'paper-individual and paper-bulk: what MySQL and MongoDB store so; sensors are the numbers of the fields, from 0. What is stored ' +
      'as upsert or timeseries is read as wide.'
  }
}

const { times, limit, pageRows, repetitions, cache } = resultProperties

/** What becomes of the rows. @type {Record<string, Property>} */
const outputProperties = {
  output: {
    type: 'string',
    title: 'Output',
    description: 'messages: the rows, page by page. parquet: files in a folder, one for each UTC day, which pandas, polars, DuckDB and ' +
      'Spark read; a message tells what was written. All of each day that the range touches is exported, in place of the day\'s file.',
    enum: ['messages', 'parquet'],
    'x-labels': { messages: 'messages: rows', parquet: 'parquet: files by day' },
    default: 'messages'
  },
  folder: {
    type: 'string',
    title: 'Folder',
    description: 'Where the files go; {table}, {source} (or all) and {query} stand for their names. An export replaces the files of its ' +
      'days: give exports of other sensors or tags another folder. Created when missing.',
    minLength: 1,
    default: 'parquet/{table}/{source}/{query}',
    'x-when': { output: 'parquet' }
  },
  ...Object.fromEntries(Object.entries({
    limit,
    repetitions,
    cache,
    restart: {
      type: 'string',
      title: 'Restart',
      description: 'The command that restarts the database server, such as sudo systemctl restart postgresql, run without a shell as the ' +
        'gateway\'s user. Everything that uses the server is interrupted. A file needs none.',
      default: '',
      'x-advanced': true
    },
    times: { ...times, 'x-advanced': true },
    pageRows: { ...pageRows, 'x-advanced': true }
  }).map(([name, property]) => [name, { ...property, 'x-when': { output: 'messages' } }])),
  parallel
}

const allOptions = nodeSchema(
  { properties: { ...databaseOptions(types), ...table } },
  {
    properties: {
      query,
      ...queryProperties(),
      ...outputProperties
    }
  }
)

/** A server is required where its database is chosen. */
export const schema = requiringServers({
  properties: Object.fromEntries(Object.entries(allOptions.properties).map(
    ([name, property]) => [name, name in labels ? { ...property, 'x-labels': labels[name] } : property]
  ))
}, types)

/** What all queries share is always shown, the rest with its queries. @returns {Record<string, Property>} */
function queryProperties () {
  const pairs = Object.entries(queries).flatMap(([asked, { schema: { properties } }]) => (
    Object.entries(properties).map(([name, property]) => ({ asked, name, property }))
  ))
  const uses = Map.groupBy(pairs, ({ name }) => name)
  return Object.fromEntries([...uses].map(([name, of]) => {
    const [{ property }] = of
    return [name, of.length === Object.keys(queries).length ? property : { ...property, 'x-when': { query: of.map(({ asked }) => asked) } }]
  }))
}
