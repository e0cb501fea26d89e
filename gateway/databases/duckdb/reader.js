import { quote } from '../names.js'
import { readerOptions } from '../reading/options.js'
import { bytesText, whole } from '../reading/values.js'
import { fileReadDialect } from '../sql/file-dialect.js'
import { existingFile } from '../sql/file-options.js'
import { SqlReader } from '../sql/reader.js'
import { failure, loadDuckdb, openSession } from './instance.js'
import { schema } from './reader.schema.js'
import { readColumns } from './tables.js'

export { schema }

/** As TIMESTAMP_NS, they are infinite. */
const INFINITE = [2n ** 63n - 1n, 1n - 2n ** 63n]
const timestamp = (/** @type {bigint} */ time) => `make_timestamp_ns(${INFINITE.includes(time) ? time - 1n : time})`

/** @type {import('../sql/read-dialect.js').ReadDialect} */
const dialect = {
  ...fileReadDialect,
  timeTypes: 'TIMESTAMP_NS, TIMESTAMP or TIMESTAMP WITH TIME ZONE, or BIGINT',
  isNanoseconds: kind => kind === 'BIGINT',
  timestamps: (column, { kind }) => kind === 'TIMESTAMP_NS'
    ? { nanoseconds: `epoch_ns(${column})`, within: ({ from, to }) => `${column} BETWEEN ${timestamp(from)} AND ${timestamp(to)}` }
    : kind.startsWith('TIMESTAMP') ? { nanoseconds: `epoch_us(${column}) * 1000`, within: null } : null,
  sensor: column => `${column}::VARCHAR`,
  number: (column, kind) => /FLOAT|DOUBLE/.test(kind)
    ? `CASE WHEN NOT isnan(${column}) THEN ${column} END`
    : /INT|DECIMAL|BOOLEAN/.test(kind) ? `${column}::DOUBLE` : null,
  double: number => `(${number})::DOUBLE`,
  stddev: 'stddev_samp',
  mean: 'favg',
  parameter: (value, type, values) => `$${values.push(value)}::${type === 'int64' ? 'BIGINT' : type === 'float64' ? 'DOUBLE' : 'VARCHAR'}`,
  valueOf: () => cell => {
    if (typeof cell === 'bigint') return whole(cell)
    return cell.bytes ? bytesText(cell.bytes) : typeof cell === 'object' ? String(cell) : cell
  }
}

/**
 * @param {Record<string, unknown>} given  see the schema
 * @returns {Promise<import('../reader.js').Reader>}
 * @throws {SluiceError} SLUICE_QUERY_DUCKDB
 */
export async function open (given) {
  await loadDuckdb()
  const { file, ...options } = readerOptions(schema, given)
  const path = existingFile(file, 'SLUICE_QUERY_DUCKDB', 'DuckDB')
  return new SqlReader(/** @type {any} */ (options), {
    table: quote(options.table),
    dialect,
    failure: error => failure('SLUICE_QUERY_DUCKDB', `DuckDB file "${path}"`, error),
    async read (work, signal) {
      const session = await openSession(path)
      const { connection, close } = session
      const interrupt = () => connection.interrupt()
      signal?.addEventListener('abort', interrupt)
      try {
        const done = await work({
          columns: () => readColumns(session, options.table),
          async all ({ sql, values }) {
            signal?.throwIfAborted()
            return (await connection.run(sql, values)).getRows()
          },
          async * rows ({ sql, values }) {
            const result = await connection.stream(sql, values)
            try {
              for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) yield chunk.getRows()
            } finally {
              interrupt()
              while ((await result.fetchChunk())?.rowCount); // with more to read, a result keeps the file open
            }
            signal?.throwIfAborted() // interrupted, a result just ends
          }
        })
        signal?.throwIfAborted()
        return done
      } finally {
        signal?.removeEventListener('abort', interrupt)
        close()
      }
    }
  })
}
