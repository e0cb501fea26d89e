import { quoteName, quoteTable, quoteText } from '../databases/influxdb/influxql.js'
import { labelsOf } from './sql.js'

/** What InfluxDB can take the mean of. */
export const NUMBERS = ['float', 'integer']

/**
 * The queries of a panel over a measurement, each with how its series are called.
 * @param {import('./tables.js').Table} table
 * @param {string[]} fields
 * @returns {{query: string, alias: string}[]}
 */
export function queriesOf (table, fields) {
  const { name, layout, isShared, options, columns } = table
  const labels = labelsOf(table)
  const chosen = ['$timeFilter', ...isShared ? ['"source" =~ /^${source:regex}$/'] : []]
  const select = (/** @type {string} */ means, /** @type {string[]} */ where, /** @type {string[]} */ tags) =>
    `SELECT ${means} FROM ${quoteTable(options.retentionPolicy, name)} WHERE ${where.join(' AND ')} ` +
    `GROUP BY ${['time($__interval)', ...tags.map(quoteName)].join(', ')} fill(none)`
  const told = labels.map(label => `$tag_${label} `).join('')
  if (layout === 'wide') {
    const means = fields.map(field => `mean(${quoteName(field)}) AS ${quoteName(field)}`).join(', ')
    return [{ query: select(means, chosen, labels), alias: `${told}$col` }]
  }
  const sensors = `(${fields.map(field => `"sensor" = ${quoteText(field)}`).join(' OR ')})`
  return ['value', 'value_int64'].filter(value => columns.some(column => column.name === value)).map(value => (
    { query: select(`mean(${quoteName(value)})`, [...chosen, sensors], [...labels, 'sensor']), alias: `${told}$tag_sensor` }))
}
