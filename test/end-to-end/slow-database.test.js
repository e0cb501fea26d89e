import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import mqtt from 'mqtt'
import pg from 'pg'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { Gateway, node } from './gateway.js'

const QUEUE_BYTES = 300_000
/** Messages that stage in holds at most. */
const WINDOW = 50
const ROWS_PER_SECOND = 10_000

describe('A database slower than its data', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {pg.Client} */
  let client
  /** @type {mqtt.MqttClient} */
  let observer
  /** What Mosquitto says that it holds. */
  let brokerBytes = 0

  before(async function () {
    requireMosquitto(this)
    requirePostgresql(this)
    mosquitto = await startMosquitto({ conf: ['max_queued_messages 0', `max_queued_bytes ${QUEUE_BYTES}`, 'sys_interval 1'] })
    postgresql = await startPostgresql()
    const login = {
      host: '127.0.0.1',
      port: postgresql.port,
      user: postgresql.user,
      password: postgresql.password,
      database: postgresql.database
    }
    client = new pg.Client(login)
    await client.connect()
    await client.query(`CREATE TABLE machine (force double precision);
      COMMENT ON TABLE machine IS 'Sluice';
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$;
      CREATE TRIGGER dawdle BEFORE INSERT ON machine FOR EACH STATEMENT EXECUTE FUNCTION dawdle()`)
    observer = mqtt.connect(mosquitto.url)
    observer.on('message', (_topic, payload) => { brokerBytes = Number(payload) })
    await observer.subscribeAsync('$SYS/broker/store/messages/bytes')
    gateway = await Gateway.start()
  })

  after(async () => {
    await gateway?.remove()
    await observer?.endAsync()
    await client?.end()
    await postgresql?.remove()
    await mosquitto?.stop()
  })

  /** @param {boolean} runs  whether the machine does */
  const deploy = runs =>
    gateway.deploy(
      [
        node('broker', '-broker', { url: mosquitto.url }),
        node('machine', '-simulator', { name: 'machine', sampleRateHz: ROWS_PER_SECOND, tickMs: 50, autostart: runs }, 'stage-out'),
        node('stage-out', '-stage-out', { broker: 'broker', spoolMegabytes: 500, gatherMs: 0 }),
        node('stage-in', '-stage-in', { broker: 'broker', receiveMaximum: WINDOW }, 'slow'),
        node('server', '-postgresql-server', {
          port: postgresql.port,
          database: postgresql.database,
          ...(runs && { credentials: { user: postgresql.user, password: postgresql.password } })
        }),
        node('slow', '-postgresql', { name: 'slow', server: 'server', batchRows: 100, inFlight: 1 })
      ],
      { type: runs ? 'full' : 'nodes' }
    )

  const produced = async () => (await gateway.meter('stage', 'machine'))?.rows ?? 0
  const stored = async () => Number((await client.query('SELECT count(*) FROM machine')).rows[0].count)

  const state = async () => ({
    spoolBytes: (await gateway.gauge('spool stage-out')).unstoredBytes,
    memoryBytes: (await gateway.report()).process.rssBytes
  })

  it('makes the spool grow, and neither the gateway\'s memory nor the broker\'s queue; all of it is stored in the end', async () => {
    await deploy(true)
    await gateway.until(
      async () => (await gateway.gauge('stage in stage-in')).held > WINDOW * 0.9,
      () => 'stage in to hold as much as it may'
    )
    await sleep(2000)
    const before = { brokerBytes, ...(await state()) }
    await sleep(6000)
    const after = { brokerBytes, ...(await state()) }
    expect(after.spoolBytes - before.spoolBytes, 'growth of the spool').to.be.above(QUEUE_BYTES)
    expect(after.brokerBytes - before.brokerBytes, 'growth of the broker').to.be.below(QUEUE_BYTES / 4)
    expect(after.memoryBytes - before.memoryBytes, 'growth of the gateway').to.be.below(40e6)

    await deploy(false)
    const rows = await produced()
    expect(await stored()).to.be.below(rows / 2)
    await client.query('DROP TRIGGER dawdle ON machine')
    await gateway.until(
      async () => (await stored()) >= rows,
      async () => `${rows} rows, ${await stored()} are there`
    )
    expect(await stored()).to.equal(rows)
    const {
      rows: [{ times }]
    } = await client.query('SELECT count(DISTINCT time_ns) AS times FROM machine')
    expect(Number(times)).to.equal(rows)
  })

  it('is said to give no answer when it stores nothing for seconds, long before the write fails', async () => {
    await client.query('BEGIN; LOCK TABLE machine')
    await deploy(true)
    await gateway.until(() => gateway.status('slow').startsWith('yellow ring: no answer for '), () => gateway.status('slow'))
    await client.query('COMMIT')
    await gateway.until(() => gateway.status('slow').startsWith('green'), () => gateway.status('slow'))
    await deploy(false)
  })
})
