import { fileReaderSchema } from '../sql/file-options.js'
import { SQLITE } from './sink.schema.js'

/** Options of reading an SQLite file. */
export const schema = fileReaderSchema(SQLITE)
