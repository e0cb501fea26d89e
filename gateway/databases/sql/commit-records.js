/**
 * The statements about commit records, for databases that know a record by the names themselves.
 *
 * Ranges are disjoint, so only the nearest record at or below can hold a batch's seq.
 *
 * @param {string} table  quoted
 * @param {{text: string, integer: string}} types  that columns of names and of seqs are declared as; names are compared exactly
 */
export function commitStatements (table, { text, integer }) {
  const epoch = 'sink_table = $table AND gateway = $gateway AND source = $source AND epoch = $epoch'
  return {
    create: `CREATE TABLE IF NOT EXISTS ${table} (sink_table ${text} NOT NULL, gateway ${text} NOT NULL, source ${text} NOT NULL,
      epoch ${text} NOT NULL, seq ${integer} NOT NULL, last ${integer} NOT NULL, PRIMARY KEY (sink_table, gateway, source, epoch, seq))`,
    read: `SELECT sink_table AS "table", gateway, source, epoch, seq, last FROM ${table}`,
    /** Leaves the record of a batch that has none: one row, or nothing. */
    claim: `INSERT INTO ${table} SELECT $table, $gateway, $source, $epoch, $seq, $seq
      WHERE coalesce((SELECT last FROM ${table} WHERE ${epoch} AND seq <= $seq ORDER BY seq DESC LIMIT 1) < $seq, true)`,
    /** Both in this order: a range takes the place of those within it. */
    absorb: `DELETE FROM ${table} WHERE ${epoch} AND seq > $seq AND last <= $last`,
    extend: `UPDATE ${table} SET last = $last WHERE ${epoch} AND seq = $seq`
  }
}
