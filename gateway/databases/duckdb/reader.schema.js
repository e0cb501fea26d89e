import { fileReaderSchema } from '../sql/file-options.js'
import { DUCKDB } from './sink.schema.js'

/** Options of reading a DuckDB file. */
export const schema = fileReaderSchema(DUCKDB)
