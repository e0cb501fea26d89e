/**
 * What the data sources make of a query before they send it, by their documentation: macros and variables, for one time and interval.
 *
 * @typedef {{fromMs: number, toMs: number, intervalMs: number, source: string[]}} Shown
 */

const iso = (/** @type {number} */ ms) => new Date(ms).toISOString()

/** Grafana's own, of all data sources. @param {string} text @param {Shown} shown */
function variables (text, { fromMs, toMs, intervalMs, source }) {
  return text
    .replaceAll('${source:sqlstring}', source.map(name => `'${name}'`).join(','))
    .replaceAll('${source:regex}', `(${source.join('|')})`)
    .replaceAll(/\$__interval_ms\b/g, String(intervalMs))
    .replaceAll(/\$__interval\b/g, `${intervalMs / 1000}s`)
    .replaceAll(/\$__from\b/g, String(fromMs))
    .replaceAll(/\$__to\b/g, String(toMs))
}

/** @type {Record<string, (name: string, argument: string, shown: Shown) => string|undefined>} */
const MACROS = {
  postgresql: (name, argument, { fromMs, toMs }) => {
    const [column, interval] = argument.split(',').map(each => each.trim())
    const seconds = Number.parseFloat(interval)
    return {
      timeFilter: `${column} BETWEEN '${iso(fromMs)}' AND '${iso(toMs)}'`,
      timeGroupAlias: `floor(extract(epoch from ${column})/${seconds})*${seconds} AS "time"`
    }[name]
  },
  mysql: (name, _argument, { fromMs, toMs }) => ({
    unixEpochNanoFrom: `${fromMs}000000`, unixEpochNanoTo: `${toMs}000000`
  })[name],
  clickhouse: (name, column, { fromMs, toMs, intervalMs }) => ({
    timeFilter_ms: `${column} >= fromUnixTimestamp64Milli(${fromMs}) AND ${column} <= fromUnixTimestamp64Milli(${toMs})`,
    timeInterval_ms: `toStartOfInterval(toDateTime64(${column}, 3), INTERVAL ${intervalMs} millisecond)`
  })[name],
  sqlite: () => undefined
}

/** @param {string} type  of the database @param {string} query @param {Shown} shown */
export function expanded (type, query, shown) {
  const text = variables(query, shown)
  if (type === 'influxdb') return text.replaceAll('$timeFilter', `time >= ${shown.fromMs}ms and time <= ${shown.toMs}ms`)
  return text.replaceAll(/\$__(\w+)\(([^)]*)\)/g, (macro, name, argument) => {
    const found = MACROS[type](name, argument, shown)
    if (found === undefined) throw new Error(`${type} has no macro ${macro}`)
    return found
  })
}
