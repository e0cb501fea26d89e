import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import pg from 'pg'
import { parseTime } from '../../gateway/batch/time.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { Gateway, node } from './gateway.js'

/** Decimals CANboat prints. */
const DECIMALS = /** @type {Record<string, number>} */ ({ Rate: 8, Latitude: 7, Longitude: 7, SOG: 2 })
const ANGLE_DECIMALS = 4

const MESSAGES = /** @type {Record<number, string>} */ ({
  127245: 'Rudder',
  127250: 'VesselHeading',
  127251: 'RateOfTurn',
  127257: 'Attitude',
  129025: 'PositionRapidUpdate',
  129026: 'CogSogRapidUpdate'
})
const TABLES = Object.values(MESSAGES).map(message => `n2k.${message}`)

describe('A real CAN log, through a real broker into real databases', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {pg.Client} */
  let client
  /** @type {DatabaseSync} */
  let sqlite

  before(async function () {
    requireMosquitto(this)
    requirePostgresql(this)
    mosquitto = await startMosquitto()
    postgresql = await startPostgresql()
    gateway = await Gateway.start()
    const { port, user, password, database } = postgresql
    const sqliteFile = join(gateway.folder, 'log.sqlite')
    await gateway.deploy([
      node('broker', '-broker', { url: mosquitto.url }),
      node(
        'n2k',
        '-candump',
        { name: 'n2k', logFile: 'data/nmea2000.log', dbcFile: 'data/nmea2000.dbc', speed: 0, times: 'log' },
        'stage-out'
      ),
      node('stage-out', '-stage-out', { broker: 'broker' }),
      node('stage-in-a', '-stage-in', { broker: 'broker' }, 'sqlite'),
      node('sqlite', '-sqlite', { name: 'sqlite', file: sqliteFile }),
      node('stage-in-b', '-stage-in', { broker: 'broker' }, 'postgresql'),
      node('postgresql-server', '-postgresql-server', { port, database, credentials: { user, password } }),
      node('postgresql', '-postgresql', { name: 'postgresql', server: 'postgresql-server' })
    ])
    const stored = async () => Promise.all(['sqlite', 'postgresql'].map(async sink => (await gateway.meter('sink', sink))?.rows ?? 0))
    await gateway.until(
      async () => (await stored()).every(rows => rows >= expected.length),
      async () => `${expected.length} rows in both: ${await stored()}`
    )
    expect(await gateway.stop()).to.equal(0)
    expect(gateway.log).to.not.match(/ error /)
    sqlite = new DatabaseSync(sqliteFile, { readOnly: true })
    client = new pg.Client({ host: '127.0.0.1', port, user, password, database })
    await client.connect()
  })

  after(async () => {
    sqlite?.close()
    await client?.end()
    await gateway?.remove()
    await postgresql?.remove()
    await mosquitto?.stop()
  })

  const expected = readFileSync('test/data/can/nmea2000-decoded.jsonl', 'utf8').trim().split('\n').map(line => {
    const { time, pgn, source, signals } = JSON.parse(line)
    return row(`n2k.${MESSAGES[pgn]}`, parseTime(time, 's'), source, signals)
  }).sort()

  it('SQLite holds every value of an independent decoder, at its exact time, once, and nothing more', () => {
    const stored = TABLES.flatMap(table => {
      const statement = sqlite.prepare(`SELECT * FROM "${table}"`)
      statement.setReadBigInts(true)
      return statement.all().map(columns => row(table, /** @type {bigint} */ (columns.time), Number(columns.address), columns))
    })
    expect(stored.sort()).to.deep.equal(expected)
    const tables = sqlite.prepare('SELECT name FROM sqlite_schema WHERE type = \'table\' AND name LIKE \'n2k%\'').all()
    expect(tables).to.have.length(TABLES.length)
  })

  it('PostgreSQL does too', async () => {
    const stored = []
    for (const table of TABLES) {
      const { rows } = await client.query(
        `SELECT *, (extract(epoch FROM time) * 1000000)::bigint = time_ns / 1000 AS "isSameTime" FROM "${table}"`
      )
      expect(rows.every(({ isSameTime }) => isSameTime)).to.equal(true)
      stored.push(...rows.map(columns => row(table, BigInt(columns.time_ns), columns.address, columns)))
    }
    expect(stored.sort()).to.deep.equal(expected)
    expect((await client.query('SELECT tablename FROM pg_tables WHERE tablename LIKE \'n2k%\'')).rows).to.have.length(TABLES.length)
  })
})

/**
 * A row as text, to be sorted and compared: the signals that are there, rounded as CANboat does. Their names begin with a capital.
 * @param {string} table @param {bigint} ns @param {number} address @param {Record<string, unknown>} signals
 */
function row (table, ns, address, signals) {
  const there = Object.keys(signals).filter(name => /^[A-Z]/.test(name) && signals[name] !== null).sort()
  const texts = there.map(name => `${name}=${Number(Number(signals[name]).toFixed(DECIMALS[name] ?? ANGLE_DECIMALS))}`)
  return `${ns} ${table} ${address}: ${texts.join(' ')}`
}
