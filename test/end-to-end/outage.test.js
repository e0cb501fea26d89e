import { expect } from 'chai'
import { benchOutage } from '../../gateway/bench/outage.js'
import { serversOf } from '../../gateway/bench/servers.js'
import { measuredServers } from '../servers/measured.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql } from '../servers/postgresql.js'

describe('A database that is away while 100,000 values a second keep coming', function () {
  this.timeout(300_000)

  before(function () {
    requireMosquitto(this)
    requirePostgresql(this)
  })

  it('costs the gateway little memory, and nothing is lost or doubled when it is back', async () => {
    const measured = await benchOutage(serversOf({}, {}, measuredServers), { seconds: 8 })
    const { produced, rows, distinct, before: storedBefore, memoryMegabytes } = measured
    expect(storedBefore, 'stored before the outage').to.be.below(produced / 2)
    expect(memoryMegabytes.most).to.be.below(250)
    expect(memoryMegabytes.catchingUp, 'while it catches up').to.be.below(250)
    expect([rows, distinct]).to.deep.equal([produced, produced])
  })
})
