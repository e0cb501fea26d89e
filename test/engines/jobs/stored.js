import cassandraDriver from 'cassandra-driver'
import pg from 'pg'

/**
 * What the jobs have stored, as the ledger has it.
 *
 * @typedef {import('./ledger.js').Ledger} Ledger
 * @typedef {Ledger & {unread: string[]}} Stored  with the reasons of what could not be read
 */

export class StoredInPostgresql {
  #client

  /** @param {import('../../servers/postgresql.js').PostgresqlServer} server @param {string} database */
  constructor ({ port, user, password }, database) {
    this.#client = new pg.Client({ host: '127.0.0.1', port, user, password, database })
  }

  async open () {
    await this.#client.connect()
    return this
  }

  /** Of rows, and of values in windows. */
  async totals () {
    const [{ found }] = await this.#ask('SELECT to_regclass(\'sluice_windows\') AS found')
    if (!found) return { rows: 0, windows: 0 }
    const [{ rows, windows }] = await this.#ask(
      'SELECT (SELECT count(*) FROM sluice_rows) AS rows, (SELECT sum(count) FROM sluice_windows) AS windows')
    return { rows: Number(rows), windows: Number(windows) }
  }

  async rows () { return (await this.totals()).rows }

  /** @returns {Promise<Stored>} */
  async ledger () {
    const fields = await this.#ask(`SELECT concat_ws(' ', source, key) AS name, count(*),
      sum(value::float8), min(value::float8), max(value::float8)
      FROM sluice_rows, jsonb_each_text(fields) WHERE key IN ('speed', 'pressure', 'torque', 'total') GROUP BY name`)
    const windows = await this.#ask(`SELECT count, sum, min, max,
      concat_ws(' ', source, tags->>'device', field, extract(epoch FROM start)::bigint * 1000) AS name FROM sluice_statistics`)
    return {
      rows: await this.rows(),
      fields: named(fields),
      windows: named(windows),
      unread: (await this.#ask('SELECT reason FROM sluice_unread')).map(({ reason }) => reason)
    }
  }

  /** What `time` lacks, in nanoseconds: different ones. */
  async times () {
    const found = await this.#ask('SELECT DISTINCT time_ns - extract(epoch FROM time)::numeric * 1000000000 AS off FROM sluice_rows')
    return found.map(({ off }) => Number(off))
  }

  close = () => this.#client.end()

  /** @param {string} sql */
  async #ask (sql) { return (await this.#client.query(sql)).rows }
}

const KEYSPACE = 'engines'

export class StoredInCassandra {
  #client

  /** @param {import('../../servers/cassandra.js').CassandraServer} server */
  constructor ({ port }) {
    this.#client = new cassandraDriver.Client({
      contactPoints: [`127.0.0.1:${port}`], localDataCenter: 'datacenter1', encoding: { useBigIntAsLong: true }
    })
  }

  /** Empty. */
  async open () {
    await this.#client.execute(`DROP KEYSPACE IF EXISTS ${KEYSPACE}`)
    await this.#client.execute(`CREATE KEYSPACE ${KEYSPACE} WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`)
    return this
  }

  async totals () {
    try {
      const rows = await this.#all('SELECT row FROM sluice_rows')
      const windows = await this.#all('SELECT count FROM sluice_windows')
      return { rows: rows.length, windows: windows.reduce((sum, { count }) => sum + Number(count), 0) }
    } catch {
      return { rows: 0, windows: 0 } // there are no tables yet
    }
  }

  /** @returns {Promise<Stored>} */
  async ledger () {
    /** @type {Ledger['fields']} */
    const fields = {}
    const rows = await this.#all('SELECT source, fields FROM sluice_rows')
    for (const { source, fields: text } of rows) {
      for (const [name, value] of Object.entries(JSON.parse(text))) {
        if (typeof value !== 'number') continue
        const its = fields[`${source} ${name}`] ??= { count: 0, sum: 0, min: Infinity, max: -Infinity }
        Object.assign(its, { count: its.count + 1, sum: its.sum + value, min: Math.min(its.min, value), max: Math.max(its.max, value) })
      }
    }
    const windows = await this.#all(`SELECT source, tags, field, start,
      sum(count) AS count, sum(sum) AS sum, min(min) AS min, max(max) AS max
      FROM sluice_windows GROUP BY source, tags, field, start`)
    return {
      rows: rows.length,
      fields,
      windows: named(windows.map(({ source, tags, field, start, ...numbers }) => ({
        name: `${source} ${JSON.parse(tags).device} ${field} ${Number(start)}`, ...numbers
      }))),
      unread: (await this.#all('SELECT reason FROM sluice_unread')).map(({ reason }) => reason)
    }
  }

  close = () => this.#client.shutdown()

  /** @param {string} cql @returns {Promise<Record<string, any>[]>} */
  async #all (cql) {
    const found = []
    for await (const row of await this.#client.execute(cql.replace('FROM ', `FROM ${KEYSPACE}.`))) found.push(row)
    return found
  }
}

/** @param {Record<string, any>[]} rows @returns {Ledger['windows']} */
function named (rows) {
  return Object.fromEntries(rows.map(({ name, count, sum, min, max }) => [name, { count: Number(count), sum, min, max }]))
}
