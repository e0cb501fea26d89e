import { expect } from 'chai'
import { databaseTypes } from '../chaos/databases/index.js'
import { chaos } from '../cli/process.js'
import { Warp10Database } from '../databases/warp10-database.js'
import { warp10SinkTests } from '../databases/warp10-sink.js'
import { warp10ReaderTests } from '../queries/warp10-reader.js'
import { requireMosquitto } from '../servers/mosquitto.js'
import { requireServer } from '../servers/programs.js'
import { missingWarp10, startWarp10 } from '../servers/warp10.js'

/** @param {Mocha.Context} context */
const start = async context => {
  requireServer(context, 'warp10', missingWarp10())
  return startWarp10()
}

describe('Warp 10 sink, with a real server', function () {
  this.timeout(120_000)
  const database = Warp10Database.inSuite(start)
  warp10SinkTests(database)

  it('knows after a kill of the server what an acknowledged write has left', async () => {
    const { batchOf, identity } = await import('../databases/contract/batches.js')
    const batch = batchOf([1, 2], { identity: identity(0) })
    await (await database.openSink()).write([batch])
    await database.server.kill()
    await database.server.start()
    expect((await (await database.openSink()).write([batch])).duplicates).to.deep.equal([batch])
    expect(await database.rows('press')).to.have.length(2)
  })
})

describe('Warp 10 reader, with a real server', function () {
  this.timeout(120_000)
  warp10ReaderTests(Warp10Database.inSuite(start))
})

describe('Kill test of Warp 10', function () {
  this.timeout(300_000)

  before(async function () {
    requireMosquitto(this)
    requireServer(this, 'warp10', await (await databaseTypes.warp10()).missing())
  })

  it('loses nothing and doubles nothing while gateway, Mosquitto and the server are killed 8 times', async () => {
    const { code, stdout, stderr } = await chaos('--sinks', 'warp10', '--kills', '8').exit
    const last = stdout.trimEnd().split('\n').at(-1) ?? ''
    console.log(`      ${last}`)
    expect(code, `${stdout}\n${stderr}`).to.equal(0)
    const { produced, sinks, killed } = JSON.parse(last)
    expect(produced).to.be.greaterThan(1000)
    expect(sinks).to.deep.equal({ warp10: { stored: produced, lost: 0, countedLost: 0, doubled: 0 } })
    for (const victim of ['gateway', 'mosquitto', 'warp10']) expect(killed[victim], victim).to.be.greaterThan(0)
  })
})
