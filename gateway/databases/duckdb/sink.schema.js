import { fileSinkSchema } from '../sql/file-options.js'

export const DUCKDB = {
  product: 'DuckDB', article: 'a', file: 'sluice.duckdb', time: 'TIMESTAMP_NS, UTC', missing: 'What is missing becomes NULL.',
  sharing: ' While it is in use here, no other process can open it.'
}

/** Options of the DuckDB sink. */
export const schema = fileSinkSchema(DUCKDB)
