import { expect } from 'chai'
import { chaos } from '../cli/process.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requireServer } from '../servers/programs.js'
import { missingVoltdb } from '../servers/voltdb.js'

describe('Kill test of VoltDB', function () {
  this.timeout(600_000)

  before(function () {
    requireMosquitto(this)
    requireServer(this, 'voltdb', missingVoltdb())
  })

  it('tells what a server has lost that was killed, too, and doubles nothing of what is stored again', async () => {
    const { code, stdout, stderr } = await chaos('--sinks', 'voltdb', '--kills', '12', '--set-back', '--seed', '3').exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)
    const { sinks, setBack } = JSON.parse(last)
    expect(setBack).to.be.greaterThan(0)
    expect(sinks.voltdb).to.include({ lost: 0, doubled: 0 })
  })
})
