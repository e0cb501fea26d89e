import { SluiceError } from '../base/errors.js'
import { grammars } from './grammars.js'
import { NUMBERS, queriesOf } from './influxql.js'
import { statementOf } from './sql.js'

/**
 * The data sources of Grafana that read what Sluice stores.
 *
 * @typedef {import('./tables.js').Table} Table
 *
 * @typedef {object} Plugin
 * @property {string} id
 * @property {string} name  as Grafana calls it
 * @property {readonly string[]} layouts
 * @property {(kind: string) => boolean} isNumeric  whether a column can be drawn
 * @property {(table: Table, fields: string[]) => object[]} targets  the queries of a panel
 */

/** Kinds of columns of SQLite, which would hold a number in any. */
const NO_NUMBERS = ['TEXT', 'BLOB']
const LAYOUTS = ['wide', 'upsert', 'narrow', 'document']

/**
 * @param {string} type  of the database
 * @param {Pick<Plugin, 'id'|'name'>} plugin
 * @param {(sql: string) => object} target
 * @returns {Plugin}
 */
function sqlPlugin (type, plugin, target) {
  const grammar = grammars[type]
  return {
    ...plugin,
    layouts: LAYOUTS,
    isNumeric: kind => !NO_NUMBERS.includes(kind) && grammar.dialect.number('', kind) !== null,
    targets: (table, fields) => [target(statementOf(grammar, table, fields))]
  }
}

const asSeries = (/** @type {string} */ rawSql) => ({ editorMode: 'code', format: 'time_series', rawQuery: true, rawSql })

/** @type {Record<string, Plugin>} */
const plugins = {
  postgresql: sqlPlugin('postgresql', { id: 'grafana-postgresql-datasource', name: 'PostgreSQL' }, asSeries),
  mysql: sqlPlugin('mysql', { id: 'mysql', name: 'MySQL' }, asSeries),
  clickhouse: sqlPlugin('clickhouse', { id: 'grafana-clickhouse-datasource', name: 'ClickHouse' }, rawSql => (
    { editorType: 'sql', queryType: 'timeseries', format: 0, rawSql })),
  sqlite: sqlPlugin('sqlite', { id: 'frser-sqlite-datasource', name: 'SQLite' }, sql => (
    { queryType: 'time series', queryText: sql, rawQueryText: sql, timeColumns: ['time'] })),
  influxdb: {
    id: 'influxdb',
    name: 'InfluxDB',
    layouts: ['wide', 'narrow'],
    isNumeric: kind => NUMBERS.includes(kind),
    targets: (table, fields) => queriesOf(table, fields)
      .map(({ query, alias }) => ({ query, alias, rawQuery: true, resultFormat: 'time_series' }))
  }
}

/** @type {Record<string, string>} */
const REASONS = {
  mongodb: 'Grafana reads MongoDB only with a plugin of Grafana Enterprise.',
  duckdb: 'Only one process at a time can open a DuckDB file, and that is the gateway.',
  file: 'Grafana has no data source for these files.',
  null: 'Nothing is stored in it.'
}

/**
 * @param {import('../copy/places.js').Place} place
 * @returns {Plugin}
 * @throws {SluiceError} SLUICE_GRAFANA_DATABASE
 */
export function pluginOf ({ type, name, options }) {
  const plugin = plugins[type]
  const reason = plugin === undefined
    ? REASONS[type]
    : plugin.layouts.includes(options.layout) ? null : `No dashboard is made of the layout ${options.layout}.`
  if (reason === null) return plugin
  throw new SluiceError('SLUICE_GRAFANA_DATABASE', `There is no dashboard of "${name}": ${reason}`, {
    fix: 'Wire a sink of PostgreSQL, MySQL, ClickHouse, InfluxDB or SQLite to the same stage in.'
  })
}
