import { RECORD_NUMBERS } from '../commit-records.js'

/**
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {{text: string, integer: string}} Types  that columns of names and of numbers are declared as
 */

/** What a record is known by, and all that it holds, by the names of its columns. */
export const KEY = Object.freeze(['sink_table', 'gateway', 'source', 'epoch', 'seq'])
export const COLUMNS = Object.freeze([...KEY.slice(0, 4), ...RECORD_NUMBERS])
/** What changes when others are merged into a record. */
export const MERGED = Object.freeze(['last', 'hash', 'staged', 'stored', 'dead'])

/** A column of a record. @param {CommitRow|Claim} record @param {string} column @returns {string|number} */
export const valueOf = (record, column) => /** @type {any} */ (record)[column === 'sink_table' ? 'table' : column]

/** Columns in SQL: `before` is a word of its own there. @type {(names: readonly string[]) => string} */
export const list = names => names.map(name => name === 'before' ? '"before"' : name).join(', ')

/** @param {string} a @param {string} b */
const sameEpoch = (a, b) => KEY.slice(0, 4).map(name => `${a}.${name} = ${b}.${name}`).join(' AND ')

/**
 * The statements about commit records, for databases that know a record by the names themselves. `wanted` (of all columns) and `previous`
 * (of the key) are lists of records that `WITH` precedes them with.
 *
 * Ranges are disjoint, so only the nearest record at or below can hold a batch's seq.
 *
 * @param {string} table  quoted
 * @param {Types & {hasAsOf?: boolean}} types  names are compared exactly. `hasAsOf`: the database joins with the nearest row in one go
 */
export function commitStatements (table, { text, integer, hasAsOf = false }) {
  const epoch = 'sink_table = $sink_table AND gateway = $gateway AND source = $source AND epoch = $epoch'
  const isMissing = (/** @type {string} */ claim) => hasAsOf
    ? `NOT EXISTS (SELECT 1 FROM ${table} AS held WHERE ${sameEpoch('held', claim)} AND ${claim}.seq BETWEEN held.seq AND held.last)`
    : `coalesce((SELECT held.last FROM ${table} AS held WHERE ${sameEpoch('held', claim)} AND held.seq <= ${claim}.seq
        ORDER BY held.seq DESC LIMIT 1) < ${claim}.seq, true)`
  return {
    create: `CREATE TABLE IF NOT EXISTS ${table} (
      ${COLUMNS.map(name => `${list([name])} ${KEY.slice(0, 4).includes(name) ? text : integer} NOT NULL`).join(', ')},
      PRIMARY KEY (${list(KEY)}))`,
    read: `SELECT sink_table AS "table", ${list(COLUMNS.slice(1))} FROM ${table}`,
    /** Names the database, where it has no name. */
    nameStore: `INSERT INTO ${table} SELECT '', $id, '', '', 0, 0, 0, 0, 0, 0, 0
      WHERE NOT EXISTS (SELECT 1 FROM ${table} WHERE sink_table = '')`,
    /** Leaves the wanted records, where there are none; nothing where one of the previous is missing. */
    claim: `INSERT INTO ${table} SELECT ${COLUMNS.map(name => `wanted.${list([name])}`).join(', ')} FROM wanted ${hasAsOf
      ? `ASOF LEFT JOIN ${table} AS stored ON ${sameEpoch('wanted', 'stored')} AND wanted.seq >= stored.seq
        WHERE coalesce(stored.last < wanted.seq, true)`
      : `WHERE ${isMissing('wanted')}`} AND NOT EXISTS (SELECT 1 FROM previous WHERE ${isMissing('previous')})`,
    /** The records that hold the wanted ones. */
    find: `SELECT sink_table AS "table", ${COLUMNS.slice(1).map(name => `stored.${list([name])}`).join(', ')} FROM wanted
      JOIN ${table} AS stored USING (sink_table, gateway, source, epoch) WHERE wanted.seq BETWEEN stored.seq AND stored.last ${hasAsOf
        ? ''
        : `AND stored.seq = (SELECT max(held.seq) FROM ${table} AS held WHERE ${sameEpoch('held', 'wanted')} AND held.seq <= wanted.seq)`}`,
    /** Turns a record into one whose rows are stored under an earlier identity. */
    move: `UPDATE ${table} SET staged = 0, stored = 0, dead = 0 WHERE ${epoch} AND seq = $seq`,
    /** Both in this order: a range takes the place of those within it. */
    absorb: `DELETE FROM ${table} WHERE ${epoch} AND seq > $seq AND last <= $last`,
    extend: `UPDATE ${table} SET ${MERGED.map(name => `${name} = $${name}`).join(', ')} WHERE ${epoch} AND seq = $seq`
  }
}

/** A row of the table, or some of its columns: its numbers as such. @param {any} row */
export function rowOf (row) {
  return { ...row, ...Object.fromEntries(RECORD_NUMBERS.flatMap(name => name in row ? [[name, Number(row[name])]] : [])) }
}

/** Some columns of a record, as parameters by name. @param {CommitRow} record @param {readonly string[]} columns */
export function named (record, columns) {
  return Object.fromEntries(columns.map(column => [column, valueOf(record, column)]))
}

/**
 * A list of records for `WITH`, of values that are parameters by name, and these parameters.
 * @param {string} name
 * @param {readonly string[]} columns
 * @param {(CommitRow|Claim)[]} records
 * @param {Types} types
 */
export function namedList (name, columns, records, { text, integer }) {
  const isText = (/** @type {string} */ column) => KEY.slice(0, 4).includes(column)
  const rows = records.map((_, i) => columns.map(column => `CAST($${name}_${column}${i} AS ${isText(column) ? text : integer})`).join(', '))
  const none = `SELECT ${columns.map(column => isText(column) ? '\'\'' : 0).join(', ')} WHERE false`
  return {
    sql: `${name} (${list(columns)}) AS (${rows.length > 0 ? `VALUES (${rows.join('), (')})` : none})`,
    parameters: Object.fromEntries(records.flatMap((record, i) =>
      columns.map(column => [`${name}_${column}${i}`, valueOf(record, column)])))
  }
}
