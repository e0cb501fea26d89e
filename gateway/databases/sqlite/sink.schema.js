import { fileSinkSchema } from '../sql/file-options.js'

export const SQLITE = {
  product: 'SQLite',
  article: 'an',
  file: 'sluice.sqlite',
  time: 'INTEGER, nanoseconds since 1970 UTC',
  missing: 'What is missing becomes NULL, and so does NaN, which SQLite cannot hold.'
}

/** Options of the SQLite sink. */
export const schema = fileSinkSchema(SQLITE)
