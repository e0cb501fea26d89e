import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { planEvents } from './plan.js'
import { chaos } from '../cli/process.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql } from '../servers/postgresql.js'

describe('Kill test', function () {
  this.timeout(600_000)

  before(function () {
    requireMosquitto(this)
    requirePostgresql(this)
  })

  it('loses nothing and doubles nothing while gateway, Mosquitto and PostgreSQL are killed 16 times', async () => {
    const { code, stdout, stderr } = await chaos('--kills', '16').exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)

    const { produced, ...result } = JSON.parse(last)
    expect(produced).to.be.greaterThan(1000)
    expect(result.sources).to.include.members(['machine', 'n2k.Rudder', 'devices'])
    expect(result).to.deep.include({ kills: 16, stored: produced, lost: 0, countedLost: 0, doubled: 0 })
    expect(result.sinks).to.deep.equal({
      sqlite: { stored: produced, lost: 0, countedLost: 0, doubled: 0 },
      postgresql: { stored: produced, lost: 0, countedLost: 0, doubled: 0 }
    })
    expect(result.killed).to.deep.equal({ gateway: 8, broker: 4, brokerForgot: 2, postgresql: 4 })
  })

  it('leaves nothing behind when interrupted', async () => {
    const { child, exit } = chaos('--kills', '100')
    const [line] = await once(child.stderr, 'data')
    const [, folder] = /** @type {RegExpExecArray} */ (/ in (\S+)/.exec(line))
    while (!existsSync(join(folder, 'events.log'))) await sleep(100)
    child.kill('SIGINT')
    expect(await exit).to.include({ code: 130, stdout: '' })
    expect(existsSync(folder)).to.equal(false)
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).to.not.contain(folder)
  })
})

describe('npm run chaos', () => {
  it('names the databases it knows when it is given another', async () => {
    const { code, stdout, stderr } = await chaos('--sinks', 'sqlite,oracle').exit
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
    expect(stderr).to.match(/--sinks takes sqlite, postgresql, mysql, .*, separated by commas; not "oracle"\./)
  })
})

describe('Kill plan', () => {
  const servers = ['postgresql']

  it('is the same for the same seed', () => {
    expect(planEvents({ events: 50, seed: 3, servers })).to.deep.equal(planEvents({ events: 50, seed: 3, servers }))
    expect(planEvents({ events: 50, seed: 3, servers })).to.not.deep.equal(planEvents({ events: 50, seed: 4, servers }))
  })

  /** How often each is killed. @param {number} kills @param {string[]} of */
  const victimsOf = (kills, of) => {
    const plan = planEvents({ events: kills, seed: 1, servers: of })
    const victims = Object.groupBy(plan, ({ victim }) => victim)
    const counts = Object.fromEntries(Object.entries(victims).map(([victim, its]) => [victim, its?.length]))
    return { ...counts, forgets: plan.filter(({ forgets }) => forgets).length }
  }

  it('kills the gateway half of the times, and has the broker forget half of its times', () => {
    expect(victimsOf(80, servers)).to.deep.equal({ gateway: 40, broker: 20, forgets: 10, postgresql: 20 })
  })

  it('kills each of several servers as often', () => {
    expect(victimsOf(90, ['mysql', 'mongodb', 'influxdb'])).to.deep.equal({
      gateway: 40,
      broker: 20,
      forgets: 10,
      mysql: 10,
      mongodb: 10,
      influxdb: 10
    })
  })

  it('kills gateway and broker where there is no other server', () => {
    expect(victimsOf(60, [])).to.deep.equal({ gateway: 40, broker: 20, forgets: 10 })
  })

  it('waits 0.2 to 2.5 s before a kill and up to 1.5 s after it, less before the early ones', () => {
    for (const { early, afterMs, downMs } of planEvents({ events: 200, seed: 2, servers })) {
      expect(afterMs).to.be.within(early ? 0 : 200, early ? 1000 : 2500)
      expect(downMs).to.be.within(0, 1500)
    }
  })
})
