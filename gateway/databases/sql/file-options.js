import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { layoutProperties } from '../../batch/layouts.js'
import { SluiceError } from '../../base/errors.js'
import { tableProperties } from '../reading/table.js'
import { retentionProperties } from '../retention.schema.js'
import { upsertProperties } from '../upsert/layout.js'

/**
 * The options of sinks and readers of a database that is a file.
 *
 * @typedef {object} FileDatabase
 * @property {string} product
 * @property {string} article  of the product
 * @property {string} file  by default
 * @property {string} [sharing]  what to know of others that use the file
 * @property {string} time  how the column of times is declared
 * @property {string} missing  what becomes of missing values
 */

/** @param {FileDatabase} database */
export function fileSinkSchema ({ product, article, file, sharing = '', time, missing }) {
  return {
    type: 'object',
    title: product,
    description: `Stores batches in ${article} ${product} file, each sample exactly once.`,
    additionalProperties: false,
    properties: {
      file: {
        type: 'string',
        title: 'File',
        description: `The database file. It and its folder are created when missing.${sharing}`,
        minLength: 1,
        default: file
      },
      table: {
        type: 'string',
        title: 'Table',
        description: 'The table to store in; {source} in it stands for the name of the source. Created when missing, and columns are ' +
          `added as fields appear: time (${time}), one column per tag and field, and source where all share a table. ${missing}`,
        minLength: 1,
        default: '{source}'
      },
      ...layoutProperties,
      ...upsertProperties,
      ...retentionProperties
    }
  }
}

/** @param {FileDatabase} database */
export function fileReaderSchema ({ product, article, file }) {
  return {
    type: 'object',
    title: product,
    description: `Reads a table of ${article} ${product} file.`,
    additionalProperties: false,
    properties: {
      file: { type: 'string', title: 'File', description: 'The database file.', minLength: 1, default: file },
      ...tableProperties
    }
  }
}

/**
 * The file of a reader, absolute.
 * @param {string} file
 * @param {`SLUICE_${string}`} code
 * @param {string} product
 */
export function existingFile (file, code, product) {
  const path = resolve(file)
  if (existsSync(path)) return path
  throw new SluiceError(code, `The ${product} file "${path}" does not exist.`, {
    fix: 'Check its name; the sink creates it with its first batch.'
  })
}
