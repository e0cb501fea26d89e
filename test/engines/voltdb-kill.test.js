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

  /** @param {string[]} options */
  const run = async (...options) => {
    const { code, stdout, stderr } = await chaos('--sinks', 'voltdb', ...options).exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)
    return JSON.parse(last)
  }

  it('loses nothing and doubles nothing while gateway and Mosquitto are killed 12 times', async () => {
    const { produced, sinks, killed } = await run('--kills', '12')
    expect(produced).to.be.greaterThan(1000)
    expect(sinks).to.deep.equal({ voltdb: { stored: produced, lost: 0, countedLost: 0, doubled: 0 } })
    for (const victim of ['gateway', 'mosquitto']) expect(killed[victim], victim).to.be.greaterThan(0)
  })

  it('tells what a server has lost that was killed, too, and doubles nothing of what is stored again', async () => {
    const { sinks, setBack } = await run('--kills', '12', '--set-back', '--seed', '3')
    expect(setBack).to.be.greaterThan(0)
    expect(sinks.voltdb).to.include({ lost: 0, doubled: 0 })
  })
})
