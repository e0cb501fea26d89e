import { mergedRecords } from '../commit-records.js'
import { COMMITS_TABLE, quote } from '../names.js'
import { inTransaction, LOCKS } from './transaction.js'

/**
 * @typedef {import('pg').ClientBase} Client
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

/** The commit records of one schema. */
export class CommitRecords {
  #schema
  #table

  /** @param {string} schema */
  constructor (schema) {
    this.#schema = quote(schema)
    this.#table = `${this.#schema}.${quote(COMMITS_TABLE)}`
  }

  /** Makes the table, and its schema, where missing. @param {Client} client */
  async prepare (client) {
    const { rows: [found] } = await client.query('SELECT to_regnamespace($1) AS schema, to_regclass($2) AS commits', [this.#schema, this.#table])
    if (found.commits) return
    await inTransaction(client, LOCKS.makingTables, async () => {
      if (!found.schema) await client.query(`CREATE SCHEMA IF NOT EXISTS ${this.#schema}`)
      await client.query(`CREATE TABLE IF NOT EXISTS ${this.#table} (sink_table text COLLATE "C", gateway text COLLATE "C", source text COLLATE "C", epoch text COLLATE "C",
        seq bigint, last bigint NOT NULL, PRIMARY KEY (sink_table, gateway, source, epoch, seq))`)
    })
  }

  /**
   * Leaves records of batches, in a transaction that holds the lock for claiming. Where another transaction is storing the same batch, this
   * waits for its end.
   * @param {Client} client
   * @param {Omit<CommitRow, 'last'>[]} wanted
   * @returns {Promise<Omit<CommitRow, 'last'>[]>} those that had no record
   */
  async claim (client, wanted) {
    if (wanted.length === 0) return []
    // Ranges are disjoint, so only the nearest record at or below can hold the number. In one order, so that two writers never wait for
    // each other.
    const { rows } = await client.query({
      name: 'sluice_claim',
      text: `INSERT INTO ${this.#table} SELECT wanted.*, wanted.seq
        FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[]) AS wanted (sink_table, gateway, source, epoch, seq)
        WHERE coalesce((SELECT c.last FROM ${this.#table} c
          WHERE c.sink_table = wanted.sink_table AND c.gateway = wanted.gateway AND c.source = wanted.source AND c.epoch = wanted.epoch AND c.seq <= wanted.seq
          ORDER BY c.seq DESC LIMIT 1) < wanted.seq, true)
        ORDER BY wanted.sink_table, wanted.gateway, wanted.source, wanted.epoch, wanted.seq
        ON CONFLICT DO NOTHING
        RETURNING sink_table AS "table", gateway, source, epoch, seq`,
      values: columnsOf(wanted)
    })
    return rows.map(row => ({ ...row, seq: Number(row.seq) }))
  }

  /** @param {Client} client @returns {Promise<CommitRow[]>} */
  async read (client) {
    const { rows } = await client.query(`SELECT sink_table AS "table", gateway, source, epoch, seq, last FROM ${this.#table}`)
    return rows.map(row => ({ ...row, seq: Number(row.seq), last: Number(row.last) }))
  }

  /**
   * @param {Client} client
   * @param {import('../sink.js').Head[]} heads
   * @param {(row: CommitRow) => boolean} isOwn  of those to merge
   */
  async compact (client, heads, isOwn) {
    const mergeable = mergedRecords((await this.read(client)).filter(isOwn), heads)
    if (mergeable.length === 0) return
    await inTransaction(client, LOCKS.compacting, async () => {
      const merged = mergedRecords((await this.read(client)).filter(isOwn), heads)
      const values = [...columnsOf(merged), merged.map(({ last }) => last)]
      const ranges = 'unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[]) AS merged (sink_table, gateway, source, epoch, seq, last)'
      const sameEpoch = 'c.sink_table = merged.sink_table AND c.gateway = merged.gateway AND c.source = merged.source AND c.epoch = merged.epoch'
      await client.query(`DELETE FROM ${this.#table} c USING ${ranges} WHERE ${sameEpoch} AND c.seq > merged.seq AND c.last <= merged.last`, values)
      await client.query(`UPDATE ${this.#table} c SET last = merged.last FROM ${ranges} WHERE ${sameEpoch} AND c.seq = merged.seq`, values)
    })
  }
}

/** @param {Omit<CommitRow, 'last'>[]} rows */
function columnsOf (rows) {
  return [rows.map(({ table }) => table), rows.map(({ gateway }) => gateway), rows.map(({ source }) => source), rows.map(({ epoch }) => epoch), rows.map(({ seq }) => seq)]
}
