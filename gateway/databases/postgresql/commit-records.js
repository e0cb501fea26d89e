import { COMMITS_TABLE, quote } from '../names.js'
import { commitStatements } from '../sql/commit-records.js'
import { inTransaction, LOCKS } from './transaction.js'

/**
 * The commit records of one schema.
 *
 * @typedef {import('./sink.js').Session} Session
 * @typedef {import('../sql/sink.js').Claim} Claim
 */

/**
 * @param {string} schema
 * @returns {Pick<import('../sql/sink.js').Storage<Session, any>, 'prepareCommits'|'readCommits'|'claim'|'compact'>}
 */
export function commitRecords (schema) {
  const table = `${quote(schema)}.${quote(COMMITS_TABLE)}`
  const statements = commitStatements(table, { text: 'text COLLATE "C"', integer: 'bigint' })
  return {
    async prepareCommits ({ client }) {
      const { rows: [found] } = await client.query(
        'SELECT to_regnamespace($1) AS schema, to_regclass($2) AS commits',
        [quote(schema), table]
      )
      if (found.commits) return
      await inTransaction(client, LOCKS.makingTables, async () => {
        if (!found.schema) await client.query(`CREATE SCHEMA IF NOT EXISTS ${quote(schema)}`)
        await client.query(statements.create)
      })
    },

    async readCommits ({ client }) {
      const { rows } = await client.query(statements.read)
      return rows.map(row => ({ ...row, seq: Number(row.seq), last: Number(row.last) }))
    },

    async claim ({ client }, wanted) {
      // Ranges are disjoint, so only the nearest record at or below can hold a seq. In one order, so that two writers never wait for each
      // other.
      const { rows } = await client.query({
        name: 'sluice_claim',
        text: `INSERT INTO ${table} SELECT wanted.*, wanted.seq
          FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) AS wanted (sink_table, gateway, source, epoch, seq)
          WHERE coalesce((SELECT c.last FROM ${table} c
            WHERE c.sink_table = wanted.sink_table AND c.gateway = wanted.gateway AND c.source = wanted.source AND c.epoch = wanted.epoch
              AND c.seq <= wanted.seq
            ORDER BY c.seq DESC LIMIT 1) < wanted.seq, true)
          ORDER BY wanted.sink_table, wanted.gateway, wanted.source, wanted.epoch, wanted.seq
          ON CONFLICT DO NOTHING
          RETURNING sink_table AS "table", gateway, source, epoch, seq`,
        values: columnsOf(wanted)
      })
      return rows.map(row => ({ ...row, seq: Number(row.seq) }))
    },

    async compact ({ client }, merged) {
      await inTransaction(client, LOCKS.compacting, async () => {
        const rows = await merged()
        const values = [...columnsOf(rows), rows.map(({ last }) => last)]
        const ranges = 'unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) ' +
          'AS merged (sink_table, gateway, source, epoch, seq, last)'
        const sameEpoch = ['sink_table', 'gateway', 'source', 'epoch'].map(name => `c.${name} = merged.${name}`).join(' AND ')
        await client.query(
          `DELETE FROM ${table} c USING ${ranges} WHERE ${sameEpoch} AND c.seq > merged.seq AND c.last <= merged.last`,
          values
        )
        await client.query(`UPDATE ${table} c SET last = merged.last FROM ${ranges} WHERE ${sameEpoch} AND c.seq = merged.seq`, values)
      })
    }
  }
}

/** @param {Claim[]} rows */
function columnsOf (rows) {
  return [
    rows.map(({ table }) => table),
    rows.map(({ gateway }) => gateway),
    rows.map(({ source }) => source),
    rows.map(({ epoch }) => epoch),
    rows.map(({ seq }) => seq)
  ]
}
