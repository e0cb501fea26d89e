import { expect } from 'chai'
import { Warp10Database } from '../databases/warp10-database.js'
import { warp10SinkTests } from '../databases/warp10-sink.js'
import { warp10ReaderTests } from '../queries/warp10-reader.js'
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
