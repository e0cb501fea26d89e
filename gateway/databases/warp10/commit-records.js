import { describe, SluiceError } from '../../base/errors.js'
import { escaped } from '../../messages/codecs/warp10/text.js'
import { RECORD_NAMES, RECORD_NUMBERS, streamHash } from '../commit-records.js'
import { COMMITS_TABLE } from '../names.js'
import { exactly } from './selector.js'

/**
 * Commit records: points of the class `sluice_commits`, whose tick is the record's seq and whose value is a JSON text of it. Each stream
 * has a series of its own, so that writing a record again changes nothing.
 *
 * @typedef {import('./connection.js').Warp10Server} Warp10Server
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 */

/** The series of the database's id. */
const STORE = 'store'

/**
 * @param {Warp10Server} server
 * @param {import('../claims.js').Claim[]} [claims]  of whose streams; unless given, of all
 * @returns {Promise<CommitRow[]>}
 */
export async function readCommits (server, claims) {
  const keys = claims && new Set(claims.map(streamHash))
  const selectors = keys ? Array.from(keys, id => exactly(COMMITS_TABLE, { id })) : [exactly(COMMITS_TABLE, {})]
  const records = []
  for (const selector of selectors) {
    for await (const { value } of server.points({ selector, from: 0n })) records.push(JSON.parse(String(value.value)))
  }
  return records
}

/**
 * @param {Warp10Server} server
 * @param {CommitRow[]} records
 * @param {AbortSignal} [signal]
 * @throws {SluiceError} never a refusal of rows: they are stored already
 */
export async function writeCommits (server, records, signal) {
  if (records.length === 0) return
  try {
    await server.write(records.map(record => lineOf(record.table === '' ? STORE : streamHash(record), record)).join(''), signal)
  } catch (error) {
    if (signal?.aborted) throw error
    throw new SluiceError('SLUICE_SINK_WARP10', `Commit records: ${describe(error)}`, { fix: /** @type {SluiceError} */ (error).fix })
  }
}

/**
 * The database's id. Servers may refuse or drop what is old, and tokens may add labels: then records would be lost.
 * @param {Warp10Server} server
 * @param {CommitRow} record
 */
export async function nameStore (server, record) {
  await writeCommits(server, [record])
  for await (const { value } of server.points({ selector: exactly(COMMITS_TABLE, { id: STORE }), from: 0n })) if (value) return
  const problem = `${server.place} does not keep what was written: a point with the label id of the year 1970.`
  throw new SluiceError('SLUICE_SINK_WARP10', problem, {
    fix: 'Use a server that keeps points of any age (backend leveldb or fdb, no maxpast), a write token without a label id, and a read ' +
      'token for what it writes.'
  })
}

/** @param {Warp10Server} server @param {CommitRow[]} merged */
export async function mergeCommits (server, merged) {
  await writeCommits(server, merged)
  for (const record of merged) {
    await server.remove(exactly(COMMITS_TABLE, { id: streamHash(record) }), BigInt(record.seq) + 1n, BigInt(record.last))
  }
}

/** @param {string} id @param {CommitRow} record */
function lineOf (id, record) {
  const text = JSON.stringify(Object.fromEntries(['table', ...RECORD_NAMES, ...RECORD_NUMBERS].map(name => {
    return [name, record[/** @type {keyof CommitRow} */ (name)]]
  })))
  return `${record.seq}// ${COMMITS_TABLE}{id=${id}} '${escaped(text)}'\n`
}
