import { createRequire } from 'node:module'
import { SluiceError, describe } from '../../base/errors.js'
import { FileIdentity } from '../../base/file-identity.js'
import { makePrivate, realName } from '../../base/files.js'

/** @typedef {Awaited<ReturnType<typeof openSession>>} Session */

/**
 * @typedef {object} Shared  what this process has open of a file
 * @property {Promise<import('@duckdb/node-api').DuckDBInstance>} opening
 * @property {FileIdentity} identity  which file it was
 * @property {number} sessions
 */

/**
 * One for all, by the name of the file: an instance that is opened while the one before is being closed fails.
 * @type {Map<string, Shared>}
 */
const opened = new Map()

/** @throws {SluiceError} SLUICE_DUCKDB_MISSING */
export const loadDuckdb = () => import('@duckdb/node-api').catch(cause => {
  throw new SluiceError('SLUICE_DUCKDB_MISSING', 'The package @duckdb/node-api is missing, or has no build for this machine.', {
    cause, fix: 'Run "npm install @duckdb/node-api" in the user directory of Node-RED; it has builds for x64 and arm64.'
  })
})

/**
 * A connection to a file, which is created when it does not exist. DuckDB keeps other processes out of it, but not a second opening by
 * its own, which would destroy the file: all sinks and readers share what is open, by one name of the file.
 * @param {string} file  absolute
 */
export async function openSession (file) {
  const duckdb = await loadDuckdb()
  /** Below its classes; only they copy whole columns. @type {typeof import('@duckdb/node-bindings')} */
  const bindings = createRequire(createRequire(import.meta.url).resolve('@duckdb/node-api'))('@duckdb/node-bindings')
  const path = await realName(file)
  const shared = opened.get(path) ?? share(duckdb, path)
  shared.sessions++
  try {
    const instance = await shared.opening
    const connection = await instance.connect()
    return {
      duckdb,
      bindings,
      connection,
      /** @param {string} sql @param {any} [values] @returns {Promise<any[]>} */
      run: async (sql, values) => (await connection.run(sql, values)).getRowObjects(),
      isReplaced: () => shared.identity.isReplaced(),
      close () {
        connection.closeSync()
        if (leave(path, shared)) instance.closeSync()
      }
    }
  } catch (error) {
    if (leave(path, shared)) await shared.opening.then(instance => instance.closeSync(), () => {})
    throw error
  }
}

/** @param {typeof import('@duckdb/node-api')} duckdb @param {string} path @returns {Shared} */
function share (duckdb, path) {
  const before = new FileIdentity(path)
  const open = async () => {
    // By default, it takes four fifths of the memory, and fetches extensions from the network.
    const instance = await duckdb.DuckDBInstance.fromCache(path, { memory_limit: '512MB', autoinstall_known_extensions: 'false' })
    if (!before.exists) {
      makePrivate(path)
      shared.identity = new FileIdentity(path)
    }
    return instance
  }
  /** @type {Shared} */
  const shared = { opening: open(), identity: before, sessions: 0 }
  opened.set(path, shared)
  return shared
}

/** Ends a session. @param {string} path @param {Shared} shared @returns {boolean} whether it was the last */
function leave (path, shared) {
  shared.sessions--
  return shared.sessions === 0 && opened.delete(path)
}

/** Whether this process has a file open. @param {string} file  absolute */
export async function isOpen (file) {
  return opened.has(await realName(file))
}

/** What users are told of an error. @param {`SLUICE_${string}`} code @param {string} place @param {unknown} cause */
export function failure (code, place, cause) {
  const [text] = describe(cause).split('\n')
  const fix = 'DuckDB lets only one process at a time use a file: end the other, or give it an export to Parquet.'
  return new SluiceError(code, `${place}: ${text}.`, { cause, ...text.includes('Could not set lock') && { fix } })
}
