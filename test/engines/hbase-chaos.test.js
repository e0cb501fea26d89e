import { expect } from 'chai'
import { chaos } from '../cli/process.js'
import { missingHbase } from '../servers/hbase.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requireServer } from '../servers/programs.js'

describe('Kill test of HBase', function () {
  this.timeout(900_000)

  before(function () {
    requireMosquitto(this)
    requireServer(this, 'hbase', missingHbase())
  })

  it('loses nothing and doubles nothing while gateway, Mosquitto and both its servers are killed', async () => {
    const { code, stdout, stderr } = await chaos('--sinks', 'hbase', '--kills', '6').exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)
    const { produced, sinks: { hbase: found }, killed } = JSON.parse(last)
    expect(produced).to.be.greaterThan(1000)
    expect(found).to.deep.equal({ stored: produced, lost: 0, countedLost: 0, doubled: 0 })
    for (const victim of ['gateway', 'hbase']) expect(killed[victim], victim).to.be.greaterThan(0)
  })
})
