import { schema as duckdb } from '../../gateway/databases/duckdb/reader.schema.js'
import { serverTypes } from '../../gateway/databases/index.js'
import { schema as influxdb } from '../../gateway/databases/influxdb/reader.schema.js'
import { schema as postgresql } from '../../gateway/databases/postgresql/reader.schema.js'
import { tableProperties } from '../../gateway/databases/reading/table.js'
import { schema as sqlite } from '../../gateway/databases/sqlite/reader.schema.js'

/**
 * The options by which nodes choose what to read from.
 *
 * @typedef {import('../../resources/options.js').Property} Property
 */

/** Readers with options besides those of the table. @type {Record<string, {properties: object}>} */
const readers = { sqlite, duckdb, postgresql, influxdb }

/** @type {Record<string, string>} */
const LABELS = {
  sqlite: 'SQLite',
  duckdb: 'DuckDB',
  postgresql: 'PostgreSQL, TimescaleDB',
  mysql: 'MySQL, MariaDB',
  mongodb: 'MongoDB',
  influxdb: 'InfluxDB',
  clickhouse: 'ClickHouse',
  cassandra: 'Cassandra',
  questdb: 'QuestDB',
  voltdb: 'VoltDB',
  warp10: 'Warp 10',
  hana: 'SAP HANA (never met)',
  hbase: 'HBase'
}

/** The option with a database's server. @param {string} type  of database */
export const serverProperty = type => `${type}Server`

/** The options of a node that says so. @param {{required?: string[], properties: object}} schema @param {string[]} types */
export function requiringServers (schema, types) {
  return { ...schema, required: types.filter(type => type in serverTypes).map(serverProperty) }
}

/** The form's name of a reader's option. @param {{properties: object}} schema @param {string} type  of database @param {string} name */
export function propertyOf (schema, type, name) {
  const own = withType(type, name)
  return own in schema.properties ? own : name
}

/** The database, its server, and what only its reader needs. @param {string[]} types  of databases @returns {Record<string, Property>} */
export function databaseOptions (types) {
  const database = {
    type: 'string',
    title: 'Database',
    description: 'The kind of database to read.',
    enum: types,
    'x-labels': Object.fromEntries(types.map(type => [type, LABELS[type]])),
    default: 'sqlite'
  }
  const servers = types.filter(type => type in serverTypes).map(type => [serverProperty(type), {
    type: 'string',
    title: 'Server',
    description: 'The database server with its login and connections, shared by all nodes that name it.',
    default: '',
    'x-node': `sluice-${type}-server`,
    'x-when': { database: type }
  }])
  const own = Object.entries(readers).filter(([type]) => types.includes(type))
  return { database, ...Object.fromEntries(servers), ...ownProperties('database', Object.fromEntries(own), tableProperties) }
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
