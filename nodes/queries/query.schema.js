import { queries } from '../../gateway/queries/index.js'
import { resultProperties } from '../../gateway/queries/run.js'
import { tableProperties } from '../../gateway/databases/reading/table.js'
import { readerTypes, serverTypes } from '../../gateway/databases/index.js'
import { schema as duckdb } from '../../gateway/databases/duckdb/reader.schema.js'
import { schema as influxdb } from '../../gateway/databases/influxdb/reader.schema.js'
import { schema as mysql } from '../../gateway/databases/mysql/reader.schema.js'
import { schema as postgresql } from '../../gateway/databases/postgresql/reader.schema.js'
import { schema as sqlite } from '../../gateway/databases/sqlite/reader.schema.js'
import { nodeSchema } from '../schema.js'
import { layoutOption } from '../sinks/sink.schema.js'

/** @typedef {import('../../resources/options.js').Property} Property */

/** Readers with options besides those of the table. @type {Record<string, {properties: object}>} */
const readers = { sqlite, duckdb, postgresql, influxdb }

const database = {
  type: 'string',
  title: 'Database',
  description: 'The kind of database to read.',
  enum: Object.keys(readerTypes),
  'x-labels': {
    sqlite: 'SQLite',
    duckdb: 'DuckDB',
    postgresql: 'PostgreSQL, TimescaleDB',
    mysql: 'MySQL, MariaDB',
    mongodb: 'MongoDB',
    influxdb: 'InfluxDB',
    clickhouse: 'ClickHouse'
  },
  default: 'sqlite'
}

const query = {
  type: 'string',
  title: 'Query',
  description: 'What to query, unless the message says: raw values; the intervals in which one sensor was out of range; the standard ' +
    'deviation; the means of intervals; the difference of two sensors\' means; a machine\'s cycle and its sums.',
  enum: Object.keys(queries),
  'x-labels': Object.fromEntries(Object.entries(queries).map(([name, { title }]) => [name, title])),
  default: 'raw'
}

/** The option with a database's server. @param {string} type  of database */
export const serverProperty = type => `${type}Server`

/** The form's name of a reader's option. @param {string} type  of database @param {string} name */
export const readerProperty = (type, name) => {
  const own = withType(type, name)
  return own in schema.properties ? own : name
}

/** The form's names for choices, and what empty fields mean. @type {Record<string, Record<string, string>>} */
const labels = {
  source: { '': 'all' },
  from: { '': 'the window before To' },
  to: { '': 'now' },
  at: { '': 'any time in the range' },
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
    description: 'The table to read, for MongoDB the collection, for InfluxDB the measurement: as named by the sink, with {source} ' +
      'filled in.'
  },
  layout: {
    ...layoutOption({ properties: mysql.properties }).properties.layout,
    description: `${tableProperties.layout.description} InfluxDB has no documents. paper-individual and paper-bulk: what MySQL stores ` +
      'so; sensors are the numbers of the fields, from 0.'
  }
}

const { times, limit, pageRows } = resultProperties

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
    times: { ...times, 'x-advanced': true },
    pageRows: { ...pageRows, 'x-advanced': true }
  }).map(([name, property]) => [name, { ...property, 'x-when': { output: 'messages' } }]))
}

const allOptions = nodeSchema(
  { properties: { database, ...serverProperties(), ...ownProperties('database', readers, tableProperties), ...table } },
  {
    properties: {
      query,
      ...queryProperties(),
      ...outputProperties
    }
  }
)

/** A server is required where its database is chosen. */
export const schema = {
  ...allOptions,
  required: Object.keys(serverTypes).map(serverProperty),
  properties: Object.fromEntries(Object.entries(allOptions.properties).map(
    ([name, property]) => [name, name in labels ? { ...property, 'x-labels': labels[name] } : property]
  ))
}

/** @returns {Record<string, Property>} */
function serverProperties () {
  return Object.fromEntries(Object.keys(serverTypes).map(type => [serverProperty(type), {
    type: 'string',
    title: 'Server',
    description: 'The database server with its login and connections, shared by all nodes that name it.',
    default: '',
    'x-node': `sluice-${type}-server`,
    'x-when': { database: type }
  }]))
}

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

/**
 * The properties that not all schemas have, each shown where its schema is chosen; the second of a name has the choice's name, too.
 * @param {string} choice  the option that chooses
 * @param {Record<string, {properties: object}>} schemas
 * @param {object} common
 * @returns {Record<string, Property>}
 */
function ownProperties (choice, schemas, common) {
  /** @type {Record<string, Property>} */
  const own = {}
  for (const [chosen, { properties }] of Object.entries(schemas)) {
    for (const [name, property] of Object.entries(properties)) {
      if (name in common) continue
      const named = name in own ? withType(chosen, name) : name
      own[named] = { ...property, 'x-when': { [choice]: chosen, ...property['x-when'] } }
    }
  }
  return own
}

/** @param {string} type @param {string} name */
function withType (type, name) {
  return `${type}${name[0].toUpperCase()}${name.slice(1)}`
}
