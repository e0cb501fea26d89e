import { isRefusal } from '../refusal.js'
import { fileSinks } from '../sql/file-sink.js'
import { commits, findCommits, insertCommits } from './commit-records.js'
import { failure, openSession } from './instance.js'
import { appendRows } from './rows.js'
import { schema } from './sink.schema.js'
import { agingTable, dialect, prepareTable } from './tables.js'

export { schema }

/** How DuckDB says that the rows are at fault. */
const REFUSED = /^(?!FATAL|INTERNAL)(.*constraint (failed|violat)|.*violates .*constraint|Conversion Error)/i

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ message }) => REFUSED.test(message))
}

/** Opens a sink; its options are described in the schema. */
export const open = fileSinks({
  schema,
  dialect,
  commits,
  findCommits,
  insertCommits,
  isTransient,
  failure: (error, place) => failure('SLUICE_SINK_DUCKDB', place, error),
  open: openSession,
  prepareTable,
  agingTable,
  insert: appendRows
})
