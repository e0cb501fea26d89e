import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import pg from 'pg'
import { WatchedProcess } from '../../gateway/bench/process.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { Gateway, node } from './gateway.js'

const PRODUCERS = fileURLToPath(new URL('../../gateway/bench/scale-producers.js', import.meta.url))
const [GATEWAYS, DEVICES, SECONDS] = [12, 5, 14]
const ROWS = GATEWAYS * DEVICES * SECONDS

describe('Members of a group that share gateways', function () {
  this.timeout(600_000)
  /** @type {Gateway[]} */
  const members = []
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {Awaited<ReturnType<typeof startPostgresql>>} */
  let postgresql
  /** @type {pg.Pool} */
  let database
  /** @type {WatchedProcess} */
  let producers
  let folder = ''

  before(async function () {
    requireMosquitto(this)
    requirePostgresql(this)
    folder = await mkdtemp(join(tmpdir(), 'sluice-members-'))
    mosquitto = await startMosquitto()
    postgresql = await startPostgresql()
    const { port, user, password, database: name } = postgresql
    database = new pg.Pool({ host: '127.0.0.1', port, user, password, database: name })
    database.on('error', () => {})
  })

  after(async () => {
    await producers?.stop()
    for (const member of members) await member.remove()
    await database?.end()
    await mosquitto?.stop()
    await postgresql?.remove()
    await rm(folder, { recursive: true })
  })

  /** @param {Gateway} gateway @param {number} member @param {number} of */
  async function deploy (gateway, member, of) {
    const { port, database: name, user, password } = postgresql
    const [place, credentials] = [{ host: '127.0.0.1', port, database: name }, { user, password }]
    await gateway.deploy([
      node('broker', '-broker', { url: mosquitto.url }),
      node('in', '-stage-in', { broker: 'broker', group: 'plant', member, members: of }, 'history'),
      { ...node('server', '-postgresql-server', place), credentials },
      node('history', '-postgresql', { name: 'history', server: 'server', table: '{source}', maxAgeMs: 100 })
    ])
  }
  /** @param {string} expression */
  async function stored (expression) {
    try {
      return Number((await database.query(`SELECT ${expression} AS value FROM telemetry`)).rows[0].value)
    } catch (error) {
      if (/does not exist/.test(String(error))) return 0
      throw error
    }
  }

  it('store each row once while they are killed, and while some count two and others three', async () => {
    for (let i = 0; i < 3; i++) members.push(await Gateway.start())
    const [one, two, three] = members
    await deploy(one, 1, 2)
    await deploy(two, 2, 2)
    const arguments_ = [0, GATEWAYS, DEVICES, SECONDS].map(String)
    producers = new WatchedProcess([PRODUCERS, mosquitto.url, folder, ...arguments_])
    await producers.says(/connected/)
    producers.child.kill('SIGUSR2')
    const more = async (/** @type {number} */ rows) => {
      const before = await stored('count(*)')
      const wanted = Math.min(before + rows, ROWS)
      await one.until(async () => await stored('count(*)') >= wanted, async () => `${wanted} rows: ${await stored('count(*)')}`)
    }
    await more(1)
    await one.restart('SIGKILL')
    await more(DEVICES)
    await deploy(three, 3, 3) // two members still count two
    await two.restart('SIGKILL')
    await more(DEVICES)
    await deploy(one, 1, 3)
    await three.restart('SIGKILL')
    await deploy(two, 2, 3)
    await one.until(async () => await stored('count(*)') >= ROWS, async () => `${ROWS} rows: ${await stored('count(*)')}`)
    await producers.says(/produced/)
    expect([await stored('count(*)'), await stored('count(DISTINCT (device, time_ns))')]).to.deep.equal([ROWS, ROWS])
  })
})
