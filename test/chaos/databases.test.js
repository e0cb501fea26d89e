import { expect } from 'chai'
import { databaseTypes } from './databases/index.js'
import { chaos } from '../cli/process.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requireServer } from '../servers/programs.js'

/** What SLUICE_REQUIRE calls the server of each type. @typedef {Record<string, string>} Servers */

/** @type {Servers} */
const QUICK = { mysql: 'mariadb', mongodb: 'mongodb', influxdb: 'influxdb', clickhouse: 'clickhouse', 'clickhouse-old': 'clickhouse-old' }

/** @param {Servers} servers @param {string[]} embedded  databases of the gateway's own @param {number} kills */
function killTest (servers, embedded, kills) {
  const sinks = [...embedded, ...Object.keys(servers)]

  before(async function () {
    requireMosquitto(this)
    for (const [type, name] of Object.entries(servers)) requireServer(this, name, await (await databaseTypes[type]()).missing())
  })

  it(`loses nothing and doubles nothing in any of them while gateway, Mosquitto and their servers are killed ${kills} times`, async () => {
    const { code, stdout, stderr } = await chaos('--sinks', sinks.join(','), '--kills', String(kills)).exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)

    const { produced, sinks: found, killed } = JSON.parse(last)
    expect(produced).to.be.greaterThan(1000)
    expect(found).to.deep.equal(Object.fromEntries(sinks.map(type => [type, { stored: produced, lost: 0, countedLost: 0, doubled: 0 }])))
    for (const victim of ['gateway', 'broker', ...Object.keys(servers)]) expect(killed[victim], victim).to.be.greaterThan(0)
  })
}

describe('Kill test of the other databases', function () {
  this.timeout(300_000)

  describe('that start at once', () => killTest(QUICK, ['file', 'duckdb'], 12))

  // While it starts, nothing else would be killed.
  describe('QuestDB, which applies later what it has acknowledged', () => killTest({ questdb: 'questdb' }, [], 8))
  describe('Cassandra, which takes seconds', () => killTest({ cassandra: 'cassandra' }, [], 8))
  describe('Kafka, whose transactions it ends', () => killTest({ kafka: 'kafka' }, [], 12))
})
