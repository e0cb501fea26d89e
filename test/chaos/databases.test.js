import { expect } from 'chai'
import { databaseTypes } from './databases/index.js'
import { chaos } from '../cli/process.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requireServer } from '../servers/programs.js'

/** What SLUICE_REQUIRE calls the server of each type. */
const SERVERS = {
  mysql: 'mariadb',
  mongodb: 'mongodb',
  influxdb: 'influxdb',
  clickhouse: 'clickhouse',
  'clickhouse-old': 'clickhouse-old',
  cassandra: 'cassandra'
}
const SINKS = ['file', 'duckdb', ...Object.keys(SERVERS)]
const KILLS = 12

describe('Kill test of the other databases', function () {
  this.timeout(300_000)

  before(async function () {
    requireMosquitto(this)
    for (const [type, name] of Object.entries(SERVERS)) requireServer(this, name, await (await databaseTypes[type]()).missing())
  })

  it(`loses nothing and doubles nothing in any of them while gateway, Mosquitto and their servers are killed ${KILLS} times`, async () => {
    const { code, stdout, stderr } = await chaos('--sinks', SINKS.join(','), '--kills', String(KILLS)).exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)

    const { produced, sinks, killed } = JSON.parse(last)
    expect(produced).to.be.greaterThan(1000)
    expect(sinks).to.deep.equal(Object.fromEntries(SINKS.map(type => [type, { stored: produced, lost: 0, countedLost: 0, doubled: 0 }])))
    for (const victim of ['gateway', 'mosquitto', ...Object.keys(SERVERS)]) expect(killed[victim], victim).to.be.greaterThan(0)
  })
})
