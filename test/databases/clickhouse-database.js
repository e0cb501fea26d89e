import { setTimeout as sleep } from 'node:timers/promises'
import { open, isTransient } from '../../gateway/databases/clickhouse/sink.js'
import { identifier, literal } from '../../gateway/databases/clickhouse/quote.js'
import { connect } from '../../gateway/databases/clickhouse/connection.js'
import { missingClickhouse, missingOldClickhouse, startClickhouse, startOldClickhouse } from '../servers/clickhouse.js'
import { requireServer } from '../servers/programs.js'
import { poisoned } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { retentionContract } from './contract/retention.js'
import { writerContract } from './contract/writer.js'
import { TestDatabase } from './test-database.js'

/** @typedef {'modern'|'old'} Age */

const SERVERS = {
  modern: { name: 'clickhouse', missing: missingClickhouse, start: startClickhouse },
  old: { name: 'clickhouse-old', missing: missingOldClickhouse, start: startOldClickhouse }
}

/** Columns of the contract that hold bytes, which ClickHouse stores as texts. */
const BYTES = ['bytes', 'noBytes', 'blob', 'value_bytes']

const SELDOM = 'a query before each insert would cost a third of the throughput: "notices within a second that its table was set back, ' +
  'though nothing comes twice"'

/**
 * A server for the tests of a suite, and an empty database for each of them.
 * @extends {TestDatabase<import('../../gateway/databases/clickhouse/connection.js').ClickhouseServer>}
 */
export class ClickhouseDatabase extends TestDatabase {
  /** @type {import('../servers/clickhouse.js').ClickhouseServer} */
  server = /** @type {any} */ (null)
  /** What the sinks have warned of. @type {string[]} */
  warnings = []
  #age

  /** @param {Age} age */
  constructor (age) {
    super({
      connect,
      open: (options, { server }) => open(options, { server, log: { info () {}, warn: text => { this.warnings.push(text) }, error () {} } })
    })
    this.#age = age
  }

  /** Has mocha start and empty it. @param {Age} age */
  static inSuite (age) {
    const database = new ClickhouseDatabase(age)
    const { name, missing, start } = SERVERS[age]
    before(async function () {
      requireServer(this, name, missing())
      database.server = await start()
    })
    after(() => database.server?.remove())
    beforeEach(async () => {
      database.warnings = []
      await database.ask('DROP DATABASE IF EXISTS sluice', { database: 'default' })
      await database.ask('CREATE DATABASE sluice', { database: 'default' })
    })
    afterEach(async () => {
      await database.closeOpened()
    })
    return database
  }

  /** @override */
  get options () { return this.login }

  get login () {
    const { port, user, password, database } = this.server
    return { host: '127.0.0.1', port, user, password, database }
  }

  /** An independent way in. @param {string} sql @param {Record<string, string>} [settings] */
  ask = async (sql, settings = {}) => {
    const { port, user, password, database } = this.login
    const answer = await fetch(
      `http://127.0.0.1:${port}/?${new URLSearchParams({ user, password, database, ...settings })}`,
      { method: 'POST', body: sql }
    )
    const text = await answer.text()
    if (!answer.ok) throw new Error(text)
    return text
  }

  /** @param {string} sql @returns {Promise<Record<string, any>[]>} */
  select = async sql => {
    const text = await this.ask(
      `${sql} FORMAT JSONCompact`,
      { output_format_json_quote_64bit_integers: '1', output_format_json_quote_denormals: '1' }
    )
    const { meta, data } = JSON.parse(text)
    return data.map((/** @type {any[]} */ values) =>
      Object.fromEntries(values.map((value, i) => [meta[i].name, plain(value, meta[i].type)])))
  }

  /**
   * As the contract expects them, without the columns that identify batches.
   * @param {string} table
   * @returns {Promise<Record<string, unknown>[]>}
   */
  rows = async table => {
    const columns = await this.select(`SELECT name FROM system.columns WHERE database = 'sluice' AND table = ${literal(table)}`)
    const names = columns.map(({ name }) => String(name))
    const shown = names.filter(name => !name.startsWith('sluice_') && name !== 'time_ns' && name !== 'time')
    const hasTime = names.includes('time')
    const time = this.#age === 'old' ? 'time_ns' : 'toUnixTimestamp64Nano(time)'
    const values = shown.map(name => BYTES.includes(name) ? `hex(${identifier(name)}) AS ${identifier(name)}` : identifier(name))
    const selected = [...hasTime ? [`${time} AS time_ns`] : [], ...values].join(', ')
    const found = await this.select(`SELECT ${selected} FROM ${identifier(table)}${hasTime ? ' ORDER BY time_ns' : ''}`)
    return found.map(({ time_ns: ns, ...row }) => {
      for (const name of BYTES) if (typeof row[name] === 'string') row[name] = `0x${row[name].toLowerCase()}`
      return { ...hasTime && { time: BigInt(ns) }, ...row }
    })
  }

  tables = async () => (await this.select(
    'SELECT name FROM system.tables WHERE database = \'sluice\' AND name != \'sluice_commits\''
  )).map(({ name }) => String(name))

  /** As if the table were that of an earlier time. @param {string} table @param {number} seq  of the first batch that is gone */
  deleteBatches = async (table, seq) => {
    await this.ask(`ALTER TABLE ${identifier(table)} DELETE WHERE sluice_seq >= ${seq}`)
    const count = async () => Number(await this.ask(`SELECT count() FROM ${identifier(table)} WHERE sluice_seq >= ${seq}`))
    while (await count() > 0) await sleep(20)
  }

  /** The contracts that every sink meets. */
  contracts () {
    const { ask, openSink, rows, tables } = this
    sinkContract({
      open: openSink,
      isTransient,
      execute: async sql => { await ask(sql) },
      rows,
      tables,
      elsewhere: async () => {
        await ask('CREATE DATABASE IF NOT EXISTS elsewhere', { database: 'default' })
        return openSink({ database: 'elsewhere' })
      },
      setBack: seq => this.deleteBatches('press', seq),
      drop: async table => { await ask(`DROP TABLE ${identifier(table)}`) },
      guarantee: 'keys',
      hasColumns: true,
      fixtures: {
        fits: 'CREATE TABLE press (sluice_epoch Int64, id Int32 DEFAULT 7, count Int64, force Float64) ENGINE = MergeTree ORDER BY tuple()',
        misfits: 'CREATE TABLE press (sluice_epoch Int64, force Int32) ENGINE = MergeTree ORDER BY tuple()',
        view: 'CREATE VIEW press AS SELECT 1 AS force',
        foreign: 'CREATE TABLE press (force Float64) ENGINE = MergeTree ORDER BY tuple()'
      },
      layouts: ['narrow', 'document'],
      nan: NaN,
      ignoresCase: false,
      differs: {
        'refuses a table whose column has another type, and reports which': 'its types have other names',
        'that are gone, as after a restore, stop the next write, and what is missing is stored again': SELDOM,
        'that are gone stop a write of rows without identity': SELDOM
      }
    })

    retentionContract({ open: openSink, rows, tells: true, removesAll: true, layouts: ['narrow', 'document'] })

    writerContract({
      open: openSink,
      isTransient,
      rows,
      poison: async (batches, isPoison) => {
        await ask('CREATE TABLE press (sluice_epoch Int64, force Float64, positive UInt8 MATERIALIZED throwIf(force < 0)) ' +
          'ENGINE = MergeTree ORDER BY tuple()')
        return poisoned(batches, isPoison)
      },
      server: { stop: () => this.server.stop(), start: () => this.server.start() },
      wrong: [
        {
          what: 'a wrong password',
          options: { password: 'password of nobody' },
          tells: /(Authentication failed|Wrong password).*Check user and password/
        },
        { what: 'a database that is missing', options: { database: 'nowhere' }, tells: /"nowhere".*Create the database/ },
        { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ }
      ]
    })
  }
}

/** @param {any} value @param {string} type @returns {unknown} */
function plain (value, type) {
  if (value === null) return null
  if (typeof value === 'boolean') return Number(value)
  if (type.includes('Float')) {
    const number = typeof value === 'string' ? Number(value.replace('inf', 'Infinity')) : value
    return type.includes('Float32') ? Math.fround(number) : number
  }
  if (/Int\d/.test(type) && typeof value === 'string') {
    return BigInt.asIntN(53, BigInt(value)) === BigInt(value) ? Number(value) : BigInt(value)
  }
  return value
}
