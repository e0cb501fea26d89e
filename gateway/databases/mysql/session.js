/**
 * What each connection is set to, and what the server reports about itself.
 *
 * @typedef {import('mysql2/promise').PoolConnection} Connection
 *
 * @typedef {object} Facts
 * @property {string} product  MariaDB or MySQL
 * @property {string} version
 * @property {boolean} localInfile  whether LOAD DATA LOCAL is allowed
 * @property {number} maxPacketBytes  of a statement
 * @property {boolean} ignoresTableCase
 * @property {boolean} hasRowKeys  whether a table can have an invisible column that numbers its rows
 * @property {string[]} risks  settings with which a crash loses what has been committed
 */

const SQL_MODE = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO'

/**
 * Text is UTF-8, what does not fit is an error and never stored in part, and times are UTC, however the server is set. Readers may take
 * their time. What changes a table does not wait long for those that read it, as all others would have to wait for it.
 * A gateway that has lost its power does not end its transaction: MariaDB does, so that the same batch does not wait for hours.
 */
const SETTINGS = [
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  `SET NAMES utf8mb4 COLLATE utf8mb4_bin, SESSION sql_mode = '${SQL_MODE}', SESSION time_zone = '+00:00', SESSION autocommit = 1,
    SESSION lock_wait_timeout = 2, SESSION max_error_count = 64, SESSION net_write_timeout = 3600
    /*M!100301 , SESSION idle_transaction_timeout = 60 */`
]

const READ_FACTS = `SELECT VERSION() AS version, @@local_infile AS localInfile, @@max_allowed_packet AS maxPacketBytes,
  @@lower_case_table_names AS tableCase,
  @@innodb_flush_log_at_trx_commit AS logFlush, @@log_bin AS binaryLog, @@sync_binlog AS binaryLogSync`

/**
 * @param {Connection} connection  new
 * @returns {Promise<Facts>}
 */
export async function startSession (connection) {
  for (const statement of SETTINGS) await connection.query(statement)
  const [[row]] = /** @type {[any[], any]} */ (await connection.query(READ_FACTS))
  return {
    ...versionOf(row.version),
    localInfile: row.localInfile === 1,
    maxPacketBytes: row.maxPacketBytes,
    ignoresTableCase: row.tableCase !== 0,
    risks: [
      ...row.logFlush === 1 ? [] : [`innodb_flush_log_at_trx_commit is ${row.logFlush}, not 1`],
      ...row.binaryLog === 1 && row.binaryLogSync === 0 ? ['sync_binlog is 0, not 1'] : []
    ]
  }
}

/** @param {string} text  such as "10.11.6-MariaDB" or "8.0.36" */
export function versionOf (text) {
  const isMariadb = /mariadb/i.test(text)
  // Replication makes old MariaDB servers call themselves 5.5.5-10.x.
  const version = /\d+\.\d+\.\d+/.exec(text.replace(/^5\.5\.5-/, ''))?.[0] ?? ''
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const number = major * 10_000 + minor * 100 + patch
  return { product: isMariadb ? 'MariaDB' : 'MySQL', version, hasRowKeys: number >= (isMariadb ? 100_303 : 80_023) }
}
