import { hashOf } from '../../batch/hashes.js'
import { COMMITS_TABLE, quote } from '../names.js'
import { oldRecords } from '../old-records.js'
import { COLUMNS, commitStatements, isText, KEY, list, MERGED, rowOf, valueOf } from '../sql/commit-records.js'
import { inTransaction, LOCKS } from './transaction.js'

/**
 * The commit records of one schema.
 *
 * @typedef {import('./sink.js').Session} Session
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

/**
 * @param {string} schema
 * @param {string} place  the database, for messages
 * @returns {Pick<import('../sql/sink.js').Storage<Session, any>,
 *   'prepareCommits'|'readCommits'|'nameStore'|'claim'|'find'|'move'|'compact'>}
 */
export function commitRecords (schema, place) {
  const table = `${quote(schema)}.${quote(COMMITS_TABLE)}`
  const statements = commitStatements(table, { text: 'text COLLATE "C"', integer: 'bigint' })
  const sameEpoch = (/** @type {string} */ other) => KEY.slice(0, 4).map(name => `c.${name} = ${other}.${name}`).join(' AND ')
  // Ranges are disjoint, so only the nearest record at or below can hold a seq.
  const nearest = (/** @type {string} */ what, /** @type {string} */ claim) =>
    `(SELECT ${what} FROM ${table} c WHERE ${sameEpoch(claim)} AND c.seq <= ${claim}.seq ORDER BY c.seq DESC LIMIT 1)`
  // In one order, so that two writers never wait for each other.
  const claimText = `WITH ${listOf('wanted', COLUMNS)}, ${listOf('previous', KEY, COLUMNS.length)}
    INSERT INTO ${table} SELECT ${list(COLUMNS)} FROM wanted WHERE coalesce(${nearest('c.last', 'wanted')} < wanted.seq, true)
      AND NOT EXISTS (SELECT 1 FROM previous WHERE coalesce(${nearest('c.last', 'previous')} < previous.seq, true))
    ORDER BY ${list(KEY)} ON CONFLICT DO NOTHING RETURNING gateway, source, epoch, seq`
  const findText = `WITH ${listOf('wanted', KEY)} SELECT c.sink_table AS "table", ${list(COLUMNS.slice(1), 'c.')} FROM wanted
    JOIN ${table} c ON ${sameEpoch('wanted')} AND c.seq = ${nearest('c.seq', 'wanted')}`
  // A connection knows a prepared statement by this name alone.
  const claimName = `sluice_claim_${hashOf(Buffer.from(table))}`
  const update = (/** @type {readonly string[]} */ columns, /** @type {string} */ set) => `WITH ${listOf('changed', columns)}
    UPDATE ${table} c SET ${set} FROM changed WHERE ${KEY.map(name => `c.${name} = changed.${name}`).join(' AND ')}`

  return {
    async prepareCommits ({ client }) {
      const { rows: [found] } = await client.query(
        `SELECT to_regnamespace($1) AS schema, to_regclass($2) AS commits,
          EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass($2) AND attname = 'hash') AS has_hash`,
        [quote(schema), table]
      )
      if (found.commits && !found.has_hash) throw oldRecords(place)
      if (found.commits) return
      await inTransaction(client, LOCKS.makingTables, async () => {
        if (!found.schema) await client.query(`CREATE SCHEMA IF NOT EXISTS ${quote(schema)}`)
        await client.query(statements.create)
      })
    },

    readCommits: async ({ client }) => (await client.query(statements.read)).rows.map(rowOf),

    nameStore: ({ client }, id) => inTransaction(client, LOCKS.makingTables, () =>
      client.query(statements.nameStore.replace('$id', '$1'), [id])),

    async claim ({ client }, wanted, previous) {
      const values = [...arraysOf(wanted, COLUMNS), ...arraysOf(previous, KEY)]
      return (await client.query({ name: claimName, text: claimText, values })).rows.map(rowOf)
    },

    async find ({ client }, wanted) {
      return (await client.query(findText, arraysOf(wanted, KEY))).rows.map(rowOf)
    },

    async move ({ client }, records) {
      await client.query(update(KEY, 'staged = 0, stored = 0, dead = 0'), arraysOf(records, KEY))
    },

    async compact ({ client }, merged) {
      await inTransaction(client, LOCKS.compacting, async () => {
        const rows = await merged()
        const columns = [...KEY, ...MERGED]
        const values = arraysOf(rows, columns)
        await client.query(`WITH ${listOf('merged', columns)} DELETE FROM ${table} c USING merged
          WHERE ${sameEpoch('merged')} AND c.seq > merged.seq AND c.last <= merged.last`, values)
        await client.query(update(columns, MERGED.map(name => `${name} = changed.${name}`).join(', ')), values)
      })
    }
  }
}

/**
 * Records for `WITH`, of an array a column.
 * @param {string} name
 * @param {readonly string[]} columns
 * @param {number} [before]  how many other arrays
 */
function listOf (name, columns, before = 0) {
  const arrays = columns.map((column, i) => `$${before + i + 1}::${isText(column) ? 'text' : 'bigint'}[]`)
  return `${name} (${list(columns)}) AS (SELECT * FROM unnest(${arrays.join(', ')}))`
}

/** @param {(CommitRow|Claim)[]} records @param {readonly string[]} columns */
function arraysOf (records, columns) {
  return columns.map(column => {
    const values = records.map(record => valueOf(record, column))
    return isText(column) ? values : `{${values.join()}}` // the driver would quote each
  })
}
