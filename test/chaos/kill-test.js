import { expect } from 'chai'
import { databaseTypes } from './databases/index.js'
import { chaos } from '../cli/process.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requireServer } from '../servers/programs.js'

/**
 * A short run of `npm run chaos`. Call it within `describe`.
 * @param {Record<string, string>} servers  types of databases, each with the name that SLUICE_REQUIRE has for it
 * @param {object} options
 * @param {number} options.kills  in all
 * @param {string[]} [options.embedded]  databases of the gateway's own
 * @param {string[]} [options.killed]  those of the servers that are killed too
 */
export function killTest (servers, { kills, embedded = [], killed = Object.keys(servers) }) {
  const sinks = [...embedded, ...Object.keys(servers)]

  before(async function () {
    requireMosquitto(this)
    for (const [type, name] of Object.entries(servers)) requireServer(this, name, await (await databaseTypes[type]()).missing())
  })

  const victims = ['gateway', 'Mosquitto', ...killed]
  it(`loses nothing and doubles nothing in ${sinks.join(', ')} while ${victims.join(', ')} are killed ${kills} times`, async () => {
    const { code, stdout, stderr } = await chaos('--sinks', sinks.join(','), '--kills', String(kills)).exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)

    const { produced, sinks: found, killed: counts } = JSON.parse(last)
    expect(produced).to.be.greaterThan(1000)
    expect(found).to.deep.equal(Object.fromEntries(sinks.map(type => [type, { stored: produced, lost: 0, countedLost: 0, doubled: 0 }])))
    for (const victim of ['gateway', 'broker', ...killed]) expect(counts[victim], victim).to.be.greaterThan(0)
  })
}
