import { createHash } from 'node:crypto'
import { rangesOf } from '../claims.js'
import { streamKey } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { encodeRows } from './cells.js'

/**
 * Commit records: rows of one cell, which holds the record as JSON. Their keys are texts: what tells streams apart, `last`, `seq`. A record
 * never changes: one that takes the place of others is another row.
 *
 * @typedef {import('./connection.js').HbaseServer} HbaseServer
 * @typedef {import('../claims.js').Claim} Claim
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

const RECORD = Buffer.from('r:record')

/** Above every key of records; what is known of tables is below them all, see tables.js. */
const [FIRST, END] = ['r/', 'r0']

/** Likewise. */
const CLOCK = 'clock'

const DIGITS = 16

const PAGE_RECORDS = 5000

/** @param {import('../commit-records.js').Stream} of */
const prefixOf = of => `${FIRST}${createHash('sha256').update(streamKey(of)).digest('hex').slice(0, 40)}/`

/** @param {number} seq */
const digits = seq => String(seq).padStart(DIGITS, '0')

/** @param {CommitRow} record */
const keyOf = record => `${prefixOf(record)}${digits(record.last)}/${digits(record.seq)}`

/** @param {HbaseServer} server */
export async function prepareCommits (server) {
  if (await server.schemaOf(COMMITS_TABLE)) return
  await server.createNamespace()
  await server.shape(COMMITS_TABLE, found => found ? null : ['r', 'c'].map(name => ({ name, VERSIONS: '1' })))
}

/** @param {HbaseServer} server @returns {Promise<CommitRow[]>} */
export async function readCommits (server) {
  /** @type {CommitRow[]} */
  const records = []
  for (let from = FIRST; ;) {
    const page = await server.rows(COMMITS_TABLE, { from, to: END, limit: PAGE_RECORDS })
    for (const row of page) records.push(recordOf(row))
    if (page.length < PAGE_RECORDS) return records
    from = `${page[page.length - 1].key}\0`
  }
}

/** Names the database where it has no name: the one thing that several must agree on. @param {HbaseServer} server @param {string} id */
export async function nameStore (server, id) {
  const record = { table: '', gateway: id, source: '', epoch: '', seq: 0, last: 0, hash: 0, staged: 0, stored: 0, dead: 0, before: 0 }
  await server.putIfMissing(COMMITS_TABLE, Buffer.from(`${FIRST}store`), ...cellOf(record))
}

/** Those that hold these, among others. @param {HbaseServer} server @param {Claim[]} claims @returns {Promise<CommitRow[]>} */
export async function findCommits (server, claims) {
  const found = await Promise.all(rangesOf(claims).flatMap(({ stream, ranges }) => {
    const prefix = prefixOf(stream)
    return ranges.map(([first, last]) =>
      server.rows(COMMITS_TABLE, { from: prefix + digits(first), to: `${prefix.slice(0, -1)}0`, limit: last - first + 2 }))
  }))
  return found.flat().map(recordOf)
}

/** @param {HbaseServer} server @param {CommitRow[]} records @param {AbortSignal} [signal] */
export async function leaveCommits (server, records, signal) {
  if (records.length === 0) return
  const rows = records.map(record => ({ key: Buffer.from(keyOf(record)), cells: [cellOf(record)] }))
  await server.put(COMMITS_TABLE, encodeRows(rows), signal)
}

/** When this process began, in milliseconds by a region server's clock: that is the timestamp of a cell. @param {HbaseServer} server */
export async function beganMs (server) {
  await server.put(COMMITS_TABLE, encodeRows([{ key: Buffer.from(CLOCK), cells: [[RECORD, Buffer.alloc(0)]] }]))
  const [{ cells: [{ timestamp }] }] = await server.rows(COMMITS_TABLE, { from: CLOCK, to: `${CLOCK}\0` })
  return Number(timestamp) - performance.now()
}

/** @param {HbaseServer} server @param {CommitRow[]} merged */
export async function mergeCommits (server, merged) {
  await leaveCommits(server, merged)
  for (const record of merged) {
    const prefix = prefixOf(record)
    const within = await server.rows(COMMITS_TABLE, { from: prefix + digits(record.seq), to: prefix + digits(record.last + 1) })
    const old = within.map(recordOf).filter(({ seq, last }) => seq >= record.seq && (seq > record.seq || last < record.last))
    await Promise.all(old.map(each => server.remove(COMMITS_TABLE, keyOf(each))))
  }
}

/** @param {CommitRow} record @returns {[Buffer, Buffer]} */
function cellOf (record) {
  return [RECORD, Buffer.from(JSON.stringify(record))]
}

/** @param {import('./cells.js').FoundRow} row @returns {CommitRow} */
function recordOf ({ cells: [{ value }] }) {
  return JSON.parse(value.toString())
}
