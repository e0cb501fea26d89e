/**
 * The databases, by type: what stores in them, what connects to their servers, what reads from them.
 * A database's driver is loaded when it is first used.
 *
 * @type {Record<string, () => Promise<import('./sink.js').SinkModule>>}
 */
export const sinkTypes = {
  sqlite: () => import('./sqlite/sink.js'),
  duckdb: () => import('./duckdb/sink.js'),
  postgresql: () => import('./postgresql/sink.js'),
  mysql: () => import('./mysql/sink.js'),
  mongodb: () => import('./mongodb/sink.js'),
  influxdb: () => import('./influxdb/sink.js'),
  clickhouse: () => import('./clickhouse/sink.js'),
  cassandra: () => import('./cassandra/sink.js'),
  questdb: () => import('./questdb/sink.js'),
  voltdb: () => import('./voltdb/sink.js'),
  warp10: () => import('./warp10/sink.js'),
  hana: () => import('./hana/sink.js'),
  hbase: () => import('./hbase/sink.js'),
  kafka: () => import('./kafka/sink.js'),
  file: () => import('./file/sink.js'),
  null: () => import('./null/sink.js')
}

/** @type {Record<string, () => Promise<import('./sink.js').ServerModule>>} */
export const serverTypes = {
  postgresql: () => import('./postgresql/connection.js'),
  mysql: () => import('./mysql/connection.js'),
  mongodb: () => import('./mongodb/connection.js'),
  influxdb: () => import('./influxdb/connection.js'),
  clickhouse: () => import('./clickhouse/connection.js'),
  cassandra: () => import('./cassandra/connection.js'),
  questdb: () => import('./questdb/connection.js'),
  voltdb: () => import('./voltdb/connection.js'),
  warp10: () => import('./warp10/connection.js'),
  hana: () => import('./hana/connection.js'),
  hbase: () => import('./hbase/connection.js'),
  kafka: () => import('./kafka/connection.js')
}

/** @type {Record<string, () => Promise<import('./reader.js').ReaderModule>>} */
export const readerTypes = {
  sqlite: () => import('./sqlite/reader.js'),
  duckdb: () => import('./duckdb/reader.js'),
  postgresql: () => import('./postgresql/reader.js'),
  mysql: () => import('./mysql/reader.js'),
  mongodb: () => import('./mongodb/reader.js'),
  influxdb: () => import('./influxdb/reader.js'),
  clickhouse: () => import('./clickhouse/reader.js'),
  cassandra: () => import('./cassandra/reader.js'),
  questdb: () => import('./questdb/reader.js'),
  voltdb: () => import('./voltdb/reader.js'),
  warp10: () => import('./warp10/reader.js'),
  hana: () => import('./hana/reader.js'),
  hbase: () => import('./hbase/reader.js')
}

const PRODUCTS = new Map([
  ['sqlite', 'SQLite'],
  ['duckdb', 'DuckDB'],
  ['postgresql', 'PostgreSQL'],
  ['mysql', 'MySQL'],
  ['mongodb', 'MongoDB'],
  ['influxdb', 'InfluxDB'],
  ['clickhouse', 'ClickHouse'],
  ['cassandra', 'Cassandra'],
  ['questdb', 'QuestDB'],
  ['voltdb', 'VoltDB'],
  ['warp10', 'Warp 10'],
  ['hana', 'SAP HANA'],
  ['hbase', 'HBase'],
  ['kafka', 'Kafka']
])

/** What people call a type; undefined where it is no database. @param {string} type */
export function productOf (type) { return PRODUCTS.get(type) }
