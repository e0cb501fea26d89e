/**
 * The databases there are, by type: what stores in them, what connects to their servers, what reads from them.
 * A database's driver is loaded when it is first used.
 *
 * @type {Record<string, () => Promise<import('./sink.js').SinkModule>>}
 */
export const sinkTypes = {
  sqlite: () => import('./sqlite/index.js'),
  postgresql: () => import('./postgresql/index.js'),
  mysql: () => import('./mysql/index.js'),
  mongodb: () => import('./mongodb/index.js'),
  influxdb: () => import('./influxdb/index.js'),
  clickhouse: () => import('./clickhouse/index.js'),
  file: () => import('./file/index.js'),
  null: () => import('./null/index.js')
}

/** @type {Record<string, () => Promise<import('./sink.js').ServerModule>>} */
export const serverTypes = {
  postgresql: () => import('./postgresql/server.js'),
  mysql: () => import('./mysql/server.js'),
  mongodb: () => import('./mongodb/server.js'),
  influxdb: () => import('./influxdb/server.js'),
  clickhouse: () => import('./clickhouse/server.js')
}

/** @type {Record<string, () => Promise<import('../queries/reader.js').ReaderModule>>} */
export const readerTypes = {
  sqlite: () => import('./sqlite/reader.js'),
  postgresql: () => import('./postgresql/reader.js'),
  mysql: () => import('./mysql/reader.js'),
  mongodb: () => import('./mongodb/reader.js'),
  influxdb: () => import('./influxdb/reader.js'),
  clickhouse: () => import('./clickhouse/reader.js')
}
