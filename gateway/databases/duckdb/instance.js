import { createRequire } from 'node:module'
import { SluiceError, describe } from '../../base/errors.js'
import { FileIdentity } from '../../base/file-identity.js'
import { makePrivate, realName } from '../../base/files.js'

/** @typedef {Awaited<ReturnType<typeof openSession>>} Session */

/** What this process has open: which file it was, and by how many. @type {Map<string, {identity: FileIdentity, sessions: number}>} */
const opened = new Map()

/** @throws {SluiceError} SLUICE_DUCKDB_MISSING */
export const loadDuckdb = () => import('@duckdb/node-api').catch(cause => {
  throw new SluiceError('SLUICE_DUCKDB_MISSING', 'The package @duckdb/node-api is missing, or has no build for this machine.', {
    cause, fix: 'Run "npm install @duckdb/node-api" in the user directory of Node-RED; it has builds for x64 and arm64.'
  })
})

/**
 * A connection to a file, which is created when it does not exist. DuckDB keeps other processes out of it, but not a second opening by
 * its own, which would destroy the file: all sinks and readers share what the cache has open, by one name of the file.
 * @param {string} file  absolute
 */
export async function openSession (file) {
  const duckdb = await loadDuckdb()
  /** Below its classes; only they copy whole columns. @type {typeof import('@duckdb/node-bindings')} */
  const bindings = createRequire(createRequire(import.meta.url).resolve('@duckdb/node-api'))('@duckdb/node-bindings')
  const path = await realName(file)
  const before = new FileIdentity(path)
  // By default, it takes four fifths of the memory, and fetches extensions from the network.
  const instance = await duckdb.DuckDBInstance.fromCache(path, { memory_limit: '512MB', autoinstall_known_extensions: 'false' })
  const connection = await instance.connect()
  if (!before.exists) makePrivate(path)
  const shared = opened.get(path) ?? { identity: before.exists ? before : new FileIdentity(path), sessions: 0 }
  shared.sessions++
  opened.set(path, shared)
  return {
    duckdb,
    bindings,
    connection,
    /** @param {string} sql @param {any} [values] @returns {Promise<any[]>} */
    run: async (sql, values) => (await connection.run(sql, values)).getRowObjects(),
    isReplaced: () => shared.identity.isReplaced(),
    close () {
      connection.closeSync()
      instance.closeSync()
      if (--shared.sessions === 0) opened.delete(path)
    }
  }
}

/** Whether this process has a file open. @param {string} file  absolute */
export async function isOpen (file) {
  return opened.has(await realName(file))
}

/** What users are told of an error. @param {`SLUICE_${string}`} code @param {string} file @param {unknown} cause */
export function failure (code, file, cause) {
  const [text] = describe(cause).split('\n')
  const fix = 'DuckDB lets only one process at a time use a file: end the other, or give it an export to Parquet.'
  return new SluiceError(code, `DuckDB file "${file}": ${text}.`, { cause, ...text.includes('Could not set lock') && { fix } })
}
