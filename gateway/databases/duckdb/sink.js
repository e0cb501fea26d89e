import { resolve } from 'node:path'
import { withDefaults } from '../../base/defaults.js'
import { Turns } from '../../base/turns.js'
import { COMMITS_TABLE, quote } from '../names.js'
import { isRefusal } from '../refusal.js'
import { commitStatements } from '../sql/commit-records.js'
import { fileStorage } from '../sql/file-storage.js'
import { SqlSink } from '../sql/sink.js'
import { columnsOf } from '../sql/tables.js'
import { failure, openSession } from './instance.js'
import { appendRows } from './rows.js'
import { schema } from './sink.schema.js'
import { dialect, prepareTable } from './tables.js'

export { schema }

const commits = commitStatements(quote(COMMITS_TABLE), { text: 'VARCHAR', integer: 'BIGINT' })

/** Transactions of several sinks with one file would meet in the table of commit records. */
const TURNS = new Turns(1)

/** How DuckDB says that the rows are at fault. */
const REFUSED = /^(?!FATAL|INTERNAL)(.*constraint (failed|violat)|Violates .* constraint|Conversion Error)/i

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ message }) => REFUSED.test(message))
}

/**
 * @param {Record<string, unknown>} given  see the schema
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given) {
  const { file, ...options } = withDefaults(schema, given)
  const path = resolve(file)
  return new SqlSink(options, {
    dialect,
    isTransient,
    failure: error => failure('SLUICE_SINK_DUCKDB', path, error),
    prepareTable: (session, name, arranged, withSource) =>
      prepareTable(session, name, columnsOf(arranged, dialect, withSource, options.layout)),
    ...fileStorage({
      open: () => openSession(path),
      isTransient,
      commits,
      turns: TURNS,
      insert: appendRows
    })
  })
}
