import { expect } from 'chai'
import { Stream } from '../../broker/in/stream.js'
import { observed } from './observed.js'
import { batchOf, FakeDatabase, until } from './pipeline.js'

describe('quiet sources', () => {
  const rig = observed()

  it('are not looked at again and again once they are stored', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const database = new FakeDatabase('db')
    rig.pipeline.addSink(database)
    const { it: consumer } = await rig.pipeline.openConsumer(['db'], { quietMs: 50 })
    await Promise.all(Array.from({ length: 20 }, (_, i) => stage.append(batchOf(i, `quiet${i}`))))
    await until(() => database.rows.length === 20)
    const { missing } = Stream.prototype
    let looks = 0
    let ticks = 0
    consumer.on('changed', () => { ticks++ })
    Stream.prototype.missing = /** @type {typeof missing} */ (function (sinks, options) {
      looks++
      return missing.call(this, sinks, options)
    })
    try {
      do {
        looks = ticks = 0
        await until(() => ticks >= 3)
      } while (looks > 0)
    } finally {
      Stream.prototype.missing = missing
    }
    await stage.append(batchOf(20, 'quiet0'))
    await until(() => database.rows.length === 21)
    expect(database.duplicates).to.equal(0)
  })
})
