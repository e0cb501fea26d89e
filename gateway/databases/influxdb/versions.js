import { formatTime } from '../../batch/time.js'
import { SluiceError } from '../../base/errors.js'
import { COMMITS_TABLE } from '../names.js'
import { AnswerError, basicLogin } from '../http.js'
import { quoteName, quoteTable, quoteText } from './influxql.js'

/**
 * What differs between the versions of InfluxDB. All are asked by InfluxQL over `/query`.
 *
 * @typedef {import('./connection.js').InfluxdbOptions} InfluxdbOptions
 * @typedef {import('./connection.js').InfluxdbServer} InfluxdbServer
 *
 * @typedef {object} Place  where something is stored: of version 2, `database` is the bucket
 * @property {string} database
 * @property {string} policy  the retention policy of version 1, empty elsewhere
 * @property {bigint} keptNs  how long; 0 for ever
 *
 * @typedef {{measurement: string, source?: string, before: bigint}} Expired  points, of one source where several share the measurement
 *
 * @typedef {object} Version
 * @property {(place: Pick<Place, 'database'|'policy'>, options: InfluxdbOptions) => string} writePath  of times in nanoseconds
 * @property {(options: InfluxdbOptions) => string} authorization  header, empty for none
 * @property {(server: InfluxdbServer, policy: string) => Promise<{rows: Place, records: Place}>} places  where rows go, and where commit
 *   records are kept for ever; created where missing
 * @property {(server: InfluxdbServer, records: Place, key: string, first: number, last: number) => Promise<unknown>} forget  deletes
 *   records; nothing where the version cannot
 * @property {(server: InfluxdbServer, rows: Place, expired: Expired) => Promise<unknown>} expire  deletes points
 * @property {string} loginFix
 */

/** The retention policy or bucket of commit records, where that of the rows keeps them for a time only; and their measurement. */
const RECORDS = COMMITS_TABLE

/** The earliest that version 2 has. */
const FIRST_TIME = '1677-09-21T00:12:43.145224194Z'

/** @type {Version} */
const version1 = {
  writePath: ({ database, policy }) => `/write?${new URLSearchParams({ db: database, ...policy && { rp: policy }, precision: 'ns' })}`,
  authorization: ({ user, password }) => user === '' ? '' : basicLogin(user, password),
  async places (server, policy) {
    const { database } = server.options
    const policies = await server.policies()
    const found = policies.find(({ name, isDefault }) => policy === '' ? isDefault : name === policy)
    if (!found) {
      throw new SluiceError('SLUICE_SINK_CONNECT', `${server.place}: database "${database}" has no retention policy "${policy}".`, {
        fix: 'Create it, or set another one.'
      })
    }
    const rows = { database, policy: found.name, keptNs: found.keptNs }
    if (rows.keptNs === 0n) return { rows, records: rows }
    const kept = policies.find(({ name }) => name === RECORDS)
    if (!kept) await server.createPolicy(RECORDS)
    return { rows, records: { database, policy: RECORDS, keptNs: kept?.keptNs ?? 0n } }
  },
  forget: (server, _records, key, first, last) => {
    return server.query(`DELETE FROM "${RECORDS}" WHERE "of" = '${key}' AND time >= ${first} AND time <= ${last}`)
  },
  expire: deletePoints,
  loginFix: 'Check user and password.'
}

/** @type {Version} */
const version2 = {
  writePath: ({ database }, { organisation }) => {
    return `/api/v2/write?${new URLSearchParams({ org: organisation, bucket: database, precision: 'ns' })}`
  },
  authorization: ({ password }) => `Token ${password}`,
  async places (server) {
    const { database } = server.options
    const bucket = await bucketOf(server, database)
    if (!bucket) {
      throw new SluiceError('SLUICE_SINK_CONNECT', `${server.place}: there is no bucket "${database}" that the token may see.`, {
        fix: 'Create the bucket, or check its name and the rights of the token.'
      })
    }
    const rows = { database, policy: '', keptNs: keptNsOf(bucket) }
    if (rows.keptNs === 0n) return { rows, records: rows }
    if (!await bucketOf(server, RECORDS)) await createBucket(server, bucket.orgID)
    return { rows, records: { database: RECORDS, policy: '', keptNs: 0n } }
  },
  forget: (server, { database }, key, first, last) => {
    const path = `/api/v2/delete?${new URLSearchParams({ org: server.options.organisation, bucket: database })}`
    const predicate = `_measurement="${RECORDS}" AND of="${key}"`
    return server.post(path, { start: formatTime(BigInt(first)), stop: formatTime(BigInt(last)), predicate })
  },
  expire: (server, { database }, { measurement, source, before }) => {
    const path = `/api/v2/delete?${new URLSearchParams({ org: server.options.organisation, bucket: database })}`
    const its = source === undefined ? '' : ` AND source=${JSON.stringify(source)}`
    const predicate = `_measurement=${JSON.stringify(measurement)}${its}`
    return server.post(path, { start: FIRST_TIME, stop: formatTime(before - 1n), predicate })
  },
  loginFix: 'Check the token.'
}

/** @type {Version} */
const version3 = {
  writePath: ({ database }) => `/api/v3/write_lp?${new URLSearchParams({ db: database, precision: 'nanosecond' })}`,
  authorization: ({ password }) => password === '' ? '' : `Bearer ${password}`,
  async places (server) {
    const { database } = server.options
    // The first write would create it; but reading comes before. Where it exists already, or the token may not create it, the next
    // request reports what is wrong, if anything is.
    await server.post('/api/v3/configure/database', { db: database }).catch(error => {
      if (!isAnswer(error, 400, 403, 409)) throw error
    })
    const rows = { database, policy: '', keptNs: 0n }
    return { rows, records: rows }
  },
  forget: async () => {},
  async expire ({ place }, { database }) {
    throw new SluiceError('SLUICE_SINK_NOT_OWNED', `${place}: InfluxDB 3 deletes no points of a measurement: nothing was removed.`, {
      fix: `Give the database "${database}" a retention period, and have the sink keep its rows for ever.`
    })
  },
  loginFix: 'Check the token.'
}

/** @type {Record<'1'|'2'|'3', Version>} */
export const VERSIONS = { 1: version1, 2: version2, 3: version3 }

/** @param {InfluxdbServer} server @param {string} name @returns {Promise<any>} undefined where it does not exist */
async function bucketOf (server, name) {
  try {
    return (await server.get(`/api/v2/buckets?${new URLSearchParams({ org: server.options.organisation, name })}`)).buckets?.[0]
  } catch (error) {
    if (isAnswer(error, 404)) return undefined
    throw error
  }
}

/** @param {InfluxdbServer} server @param {string} orgID */
async function createBucket (server, orgID) {
  try {
    await server.post('/api/v2/buckets', { orgID, name: RECORDS, retentionRules: [] })
  } catch (error) {
    throw new SluiceError('SLUICE_SINK_CONNECT', `${server.place}: the bucket "${RECORDS}" cannot be created.`, {
      cause: error,
      fix: 'Commit records must outlive the rows: create that bucket without a retention period, and let the token read and write it.'
    })
  }
}

/** @param {any} error @param {number[]} statuses */
function isAnswer ({ cause }, ...statuses) {
  return cause instanceof AnswerError && statuses.includes(cause.status)
}

/** @param {{retentionRules?: {everySeconds?: number}[]}} bucket */
function keptNsOf ({ retentionRules = [] }) {
  return BigInt(retentionRules[0]?.everySeconds ?? 0) * 1_000_000_000n
}

/**
 * Version 1 deletes in all retention policies of a database.
 * @param {InfluxdbServer} server
 * @param {Place} rows
 * @param {Expired} expired
 */
async function deletePoints (server, { database, policy }, { measurement, source, before }) {
  const old = `time < ${before}${source === undefined ? '' : ` AND "source" = ${quoteText(source)}`}`
  for (const { name } of await server.policies()) {
    if (name === policy || name === RECORDS) continue
    const found = await server.query(`SELECT * FROM ${quoteTable(name, measurement)} WHERE ${old} LIMIT 1`, { database })
    if (found.length > 0) throw inSeveral(server.place, measurement, name)
  }
  await server.query(`DELETE FROM ${quoteName(measurement)} WHERE ${old}`, { database })
}

/** @param {string} place @param {string} measurement @param {string} policy */
function inSeveral (place, measurement, policy) {
  const message = `${place}: "${measurement}" is in the retention policy "${policy}", too, where InfluxDB would delete as well`
  return new SluiceError('SLUICE_SINK_NOT_OWNED', `${message}: nothing was removed.`, {
    fix: 'Give the sink\'s retention policy a duration, and have the sink keep its rows for ever.'
  })
}
