const CLAIMED = /** @type {const} */ (['table', 'gateway', 'source', 'epoch', 'seq'])

/** The parameters of a claim. @param {import('./sink.js').Claim[]} wanted @returns {Record<string, string|number>} */
export function claimParameters (wanted) {
  return Object.fromEntries(wanted.flatMap((record, i) => CLAIMED.map(name => [`${name}${i}`, record[name]])))
}

/**
 * The statements about commit records, for databases that know a record by the names themselves.
 *
 * Ranges are disjoint, so only the nearest record at or below can hold a batch's seq.
 *
 * @param {string} table  quoted
 * @param {{text: string, integer: string, hasAsOf?: boolean}} types  that columns of names and of seqs are declared as; names are compared
 *   exactly. `hasAsOf`: the database joins with the nearest row in one go
 */
export function commitStatements (table, { text, integer, hasAsOf = false }) {
  const epoch = 'sink_table = $table AND gateway = $gateway AND source = $source AND epoch = $epoch'
  const sameEpoch = ['sink_table', 'gateway', 'source', 'epoch'].map(name => `wanted.${name} = stored.${name}`).join(' AND ')
  return {
    create: `CREATE TABLE IF NOT EXISTS ${table} (sink_table ${text} NOT NULL, gateway ${text} NOT NULL, source ${text} NOT NULL,
      epoch ${text} NOT NULL, seq ${integer} NOT NULL, last ${integer} NOT NULL, PRIMARY KEY (sink_table, gateway, source, epoch, seq))`,
    read: `SELECT sink_table AS "table", gateway, source, epoch, seq, last FROM ${table}`,
    /** Leaves the records of so many batches, where they have none, and returns these. @param {number} count */
    claim (count) {
      const parameter = (/** @type {string} */ name, /** @type {number} */ i) => `CAST($${name}${i} AS ${name === 'seq' ? integer : text})`
      const rows = Array.from({ length: count }, (_, i) => `(${CLAIMED.map(name => parameter(name, i)).join(', ')})`)
      return `WITH wanted (sink_table, gateway, source, epoch, seq) AS (VALUES ${rows.join(', ')})
        INSERT INTO ${table} SELECT wanted.*, wanted.seq FROM wanted ${hasAsOf
          ? `ASOF LEFT JOIN ${table} AS stored ON ${sameEpoch} AND wanted.seq >= stored.seq WHERE coalesce(stored.last < wanted.seq, true)`
          : `WHERE coalesce((SELECT stored.last FROM ${table} AS stored WHERE ${sameEpoch} AND stored.seq <= wanted.seq
              ORDER BY stored.seq DESC LIMIT 1) < wanted.seq, true)`}
        RETURNING gateway, source, epoch, seq`
    },
    /** Both in this order: a range takes the place of those within it. */
    absorb: `DELETE FROM ${table} WHERE ${epoch} AND seq > $seq AND last <= $last`,
    extend: `UPDATE ${table} SET last = $last WHERE ${epoch} AND seq = $seq`
  }
}
