import { SluiceError } from '../../base/errors.js'

/**
 * Hypertables of TimescaleDB, by its documentation of create_hypertable and add_compression_policy (2.x).
 *
 * @typedef {object} HypertableOptions
 * @property {boolean} hypertable
 * @property {number} chunkHours
 * @property {number} compressAfterHours  0: never
 */

/**
 * Turns a table just created into a hypertable.
 * @param {import('pg').ClientBase} client
 * @param {string} table  qualified and quoted
 * @param {string[]} segments  the columns, quoted, whose values are compressed apart
 * @param {HypertableOptions} options
 * @throws {SluiceError} SLUICE_SINK_TIMESCALE where the database has no TimescaleDB
 */
export async function makeHypertable (client, table, segments, { chunkHours, compressAfterHours }) {
  const { rows: [{ found }] } = await client.query('SELECT EXISTS (SELECT 1 FROM pg_proc WHERE proname = \'create_hypertable\') AS found')
  if (!found) {
    throw new SluiceError(
      'SLUICE_SINK_TIMESCALE',
      `${table} cannot be made a hypertable: the database has no TimescaleDB.`,
      { fix: 'CREATE EXTENSION timescaledb in it, or switch Hypertable off.' }
    )
  }
  await client.query(
    'SELECT create_hypertable($1::regclass, \'time\', chunk_time_interval => make_interval(hours => $2), create_default_indexes => false)',
    [table, chunkHours]
  )
  if (compressAfterHours === 0) return
  const apart = segments.length === 0 ? '' : `, timescaledb.compress_segmentby = '${segments.join(', ').replaceAll('\'', '\'\'')}'`
  await client.query(`ALTER TABLE ${table} SET (timescaledb.compress, timescaledb.compress_orderby = 'time'${apart})`)
  await client.query(
    'SELECT add_compression_policy($1::regclass, compress_after => make_interval(hours => $2))',
    [table, compressAfterHours]
  )
}

/**
 * Drops the chunks of a hypertable that hold nothing newer: at once, however many rows that is. TimescaleDB's own policy does the same, but
 * by the server's clock, and goes on when the sink is told to keep all.
 * @param {import('pg').ClientBase} client
 * @param {string} table  qualified and quoted
 * @param {string} before  a timestamp
 * @returns {Promise<number>} 0: it does not tell how many rows
 */
export async function dropChunks (client, table, before) {
  await client.query('SELECT drop_chunks($1::regclass, older_than => $2::timestamptz)', [table, before])
  return 0
}
