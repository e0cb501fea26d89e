import { readDialect as clickhouse } from '../databases/clickhouse/dialect.js'
import { literal as clickhouseLiteral } from '../databases/clickhouse/quote.js'
import { readDialect as mysql } from '../databases/mysql/dialect.js'
import { readDialect as postgresql } from '../databases/postgresql/dialect.js'
import { readDialect as sqlite } from '../databases/sqlite/dialect.js'

/**
 * What each data source makes of SQL: its macros, and how its database takes documents apart.
 *
 * @typedef {import('./sql.js').Grammar} Grammar
 */

/** @param {string} text */
const literal = text => `'${text.replaceAll('\'', '\'\'')}'`

const INTERVAL_NS = '($__interval_ms * 1000000)'

/** @type {Record<string, Grammar>} */
export const grammars = {
  postgresql: {
    dialect: postgresql,
    literal,
    nameOf: ({ name, options }) => `${postgresql.quote(options.schema)}.${postgresql.quote(name)}`,
    clock: '"time"',
    bucket: clock => `$__timeGroupAlias(${clock}, $__interval)`,
    bucketName: '1',
    within: '$__timeFilter("time")',
    documents: {
      columns: '"time" + (sample.of->>\'ns\')::float8 / 1000 * interval \'1 microsecond\' AS at, field.name AS sensor, ' +
        'CASE jsonb_typeof(sample.of->\'m\'->(field.place - 1)::int) WHEN \'number\' ' +
        'THEN (sample.of->\'m\'->>(field.place - 1)::int)::float8 END AS value',
      joined: ', jsonb_array_elements("measurements"::jsonb->\'measurements\') AS sample(of)' +
        ', jsonb_array_elements_text("measurements"::jsonb->\'fields\') WITH ORDINALITY AS field(name, place)'
    }
  },

  // Times are UTC here, and $__timeFilter would take them for those of the session's time zone; $__timeGroup knows whole seconds only.
  mysql: {
    dialect: { ...mysql, sensor: column => `CAST(${column} AS CHAR)` },
    literal: text => literal(text.replaceAll('\\', '\\\\')),
    nameOf: ({ name }) => mysql.quote(name),
    clock: '`time_ns`',
    bucket: clock => `${clock} DIV ${INTERVAL_NS} * $__interval_ms AS \`time\``,
    bucketName: '1',
    within: '`time` BETWEEN ' + ['$__unixEpochNanoFrom()', '$__unixEpochNanoTo()']
      .map(end => `TIMESTAMP'1970-01-01 00:00:00' + INTERVAL (${end} DIV 1000) MICROSECOND`).join(' AND '),
    documents: {
      columns: '`time_ns` + sample.ns AS at, field.name AS sensor, ' +
        'CASE WHEN JSON_TYPE(JSON_EXTRACT(sample.m, CONCAT(\'$[\', field.place - 1, \']\'))) IN (\'INTEGER\', \'DOUBLE\', \'DECIMAL\') ' +
        'THEN JSON_EXTRACT(sample.m, CONCAT(\'$[\', field.place - 1, \']\')) + 0e0 END AS value',
      joined: ', JSON_TABLE(`measurements`, \'$.measurements[*]\' COLUMNS (ns BIGINT PATH \'$.ns\', m JSON PATH \'$.m\')) AS sample' +
        ', JSON_TABLE(`measurements`, \'$.fields[*]\' COLUMNS (place FOR ORDINALITY, name VARCHAR(1000) PATH \'$\')) AS field'
    }
  },

  clickhouse: {
    dialect: clickhouse,
    literal: clickhouseLiteral,
    nameOf: ({ name }) => clickhouse.quote(name),
    clock: '`time`',
    bucket: clock => `$__timeInterval_ms(${clock}) AS bucket`, // not `time`: an alias hides the column
    bucketName: 'bucket',
    within: '$__timeFilter_ms(`time`)',
    documents: {
      columns: 'fromUnixTimestamp64Nano(toUnixTimestamp64Nano(`time`) + JSONExtractInt(sample, \'ns\'), \'UTC\') AS at, ' +
        'field.1 AS sensor, toFloat64OrNull(field.2) AS value',
      joined: ' ARRAY JOIN JSONExtractArrayRaw(assumeNotNull(`measurements`), \'measurements\') AS sample' +
        ' ARRAY JOIN arrayZip(JSONExtract(assumeNotNull(`measurements`), \'fields\', \'Array(String)\'), ' +
        'JSONExtractArrayRaw(sample, \'m\')) AS field'
    }
  },

  // The plugin takes a number for seconds since 1970.
  sqlite: {
    dialect: sqlite,
    literal,
    nameOf: ({ name }) => sqlite.quote(name),
    clock: '"time"',
    bucket: clock => `${clock} / ${INTERVAL_NS} * $__interval_ms / 1000.0 AS "time"`,
    bucketName: '1',
    within: '"time" BETWEEN $__from * 1000000 AND $__to * 1000000',
    documents: {
      columns: '"time" + json_extract(sample.value, \'$.ns\') AS at, field.value AS sensor, ' +
        'CASE WHEN json_type(sample.value, \'$.m[\' || field.key || \']\') IN (\'integer\', \'real\') ' +
        'THEN json_extract(sample.value, \'$.m[\' || field.key || \']\') END AS value',
      joined: ', json_each("measurements", \'$.measurements\') AS sample, json_each("measurements", \'$.fields\') AS field'
    }
  }
}
