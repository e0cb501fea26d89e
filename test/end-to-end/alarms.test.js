import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { Gateway, node } from './gateway.js'

const AWAY = 'sink-unreachable:sink:plant'

describe('What is killed', function () {
  this.timeout(300_000)
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql

  before(async function () {
    requireMosquitto(this)
    requirePostgresql(this)
    mosquitto = await startMosquitto()
    postgresql = await startPostgresql()
    gateway = await Gateway.start()
  })

  after(async () => {
    await gateway?.remove()
    await postgresql?.remove()
    await mosquitto?.stop()
  })

  const active = async () => (await gateway.alarms()).active
  const away = async () => (await active()).find(({ id }) => id === AWAY)
  /** What the alarm node has sent last. */
  const told = () => gateway.statuses.get('told')?.text ?? ''

  it('raises an alarm if it is a database: it survives a kill of the gateway, acknowledged, and is cleared once that is back', async () => {
    const { port, user, password, database } = postgresql
    await gateway.deploy([
      node('broker', '-broker', { url: mosquitto.url }),
      node('server', '-postgresql-server', { host: '127.0.0.1', port, database, credentials: { user, password } }),
      node('machine', '-simulator', { name: 'press', sampleRateHz: 100 }, 'out'),
      node('out', '-stage-out', { broker: 'broker' }),
      node('in', '-stage-in', { broker: 'broker' }, 'plant'),
      node('plant', '-postgresql', { name: 'plant', server: 'server' }),
      node('alarm', '-alarm', {}, 'told'),
      node('told', 'function', { func: 'node.status({ text: `${msg.topic} ${msg.alarm}: ${msg.payload.what}` })', outputs: 0 })
    ])
    const stored = async () => (await gateway.meter('sink', 'plant'))?.rows ?? 0
    await gateway.until(async () => await stored() > 0, () => gateway.status('plant'))
    expect((await active()).map(({ what }) => what)).to.deep.equal([])
    await gateway.until(async () => (await gateway.gauge('spool out')).confirmed > 0) // without which not-stored would be raised
    expect((await gateway.gauge('spool out')).requiredSinks).to.match(/^gw-[^/]+\/plant$/)

    await postgresql.kill()
    await gateway.until(away, async () => JSON.stringify(await active()))
    expect(await away()).to.deep.include({
      level: 'problem', subject: { type: 'sink', name: 'plant', nodeId: 'plant' }, clearedMs: null, acknowledgedMs: null
    })
    expect((await away())?.what).to.match(/^plant is not reachable: [\d.]+( k)? rows wait(, the spool is full in [\d.]+ (s|min|h|days))?$/)
    expect((await away())?.reason).to.contain('SLUICE_SINK_CONNECT')
    await gateway.until(() => told().startsWith('sluice/alarm/sink-unreachable raised: plant is not reachable: '), told)

    await gateway.acknowledge(AWAY)
    await gateway.until(() => told().startsWith('sluice/alarm/sink-unreachable acknowledged: '), told)
    const path = join(gateway.userDir, 'sluice', 'alarms.json')
    await gateway.until(async () => /"acknowledgedMs":\d/.test(await readFile(path, 'utf8')), () => readFile(path, 'utf8'))
    const before = await away()
    await gateway.restart('SIGKILL')
    expect(await away()).to.include({ raisedMs: before?.raisedMs, acknowledgedMs: before?.acknowledgedMs })
    await gateway.until(async () => (await away())?.isFromBefore === undefined, async () => JSON.stringify(await active())) // seen anew
    expect((await away())?.what).to.match(/^plant is not reachable: /)

    await postgresql.start()
    await gateway.until(async () => await stored() > 0 && !await away(), async () => JSON.stringify(await active()))
    await gateway.until(() => told().startsWith('sluice/alarm/sink-unreachable cleared: plant is not reachable'), told)
  })

  it('raises one alarm if it is a broker, for all that use it, and names them', async () => {
    const broker = async () => (await active()).find(({ kind }) => kind === 'broker-unreachable')
    await mosquitto.kill()
    await gateway.until(broker, async () => JSON.stringify(await active()))
    expect((await active()).filter(({ kind }) => kind === 'broker-unreachable')).to.have.length(1)
    expect(await broker()).to.deep.include({ subject: { type: 'broker', name: mosquitto.url } })
    expect((await broker())?.what).to.match(/^The broker mqtt:\/\/127\.0\.0\.1:\d+ is not reachable/)
    expect((await broker())?.reason).to.match(/^SLUICE_BROKER_.* It is used by out, in\.$/)
    await mosquitto.start()
    await gateway.until(async () => !await broker(), async () => JSON.stringify(await active()))
  })
})
