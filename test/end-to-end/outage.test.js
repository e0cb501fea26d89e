import { expect } from 'chai'
import { benchOutage } from '../../gateway/bench/outage.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql } from '../servers/postgresql.js'

describe('A database that is away while 100,000 values a second keep coming', function () {
  this.timeout(120_000)

  before(function () {
    requireMosquitto(this)
    requirePostgresql(this)
  })

  it('costs the gateway no memory to speak of, and nothing is lost or doubled when it is back', async () => {
    const { produced, rows, distinct, before: storedBefore, memoryMegabytes } = await benchOutage({ seconds: 8 })
    expect(storedBefore, 'stored before the outage').to.be.below(produced / 2)
    expect(memoryMegabytes.most).to.be.below(250)
    expect(memoryMegabytes.catchingUp, 'while it catches up').to.be.below(250)
    expect([rows, distinct]).to.deep.equal([produced, produced])
  })
})
