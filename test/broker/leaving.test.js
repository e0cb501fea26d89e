import { expect } from 'chai'
import { observed } from './observed.js'
import { FakeDatabase, until, wired } from './pipeline.js'

describe('to disable a sink soon after it has stored something', () => {
  const rig = observed()
  const disabled = { ...wired('one')[0], isDisabled: true }

  /** The sink has stored what the spool does not know of: its database is not read again for hours. */
  async function storedUnread () {
    const one = new FakeDatabase('one')
    const remove = rig.pipeline.addSink(one)
    const { it: stage } = await rig.pipeline.openStage()
    const { it: consumer, close } = await rig.pipeline.openConsumer(['one'], { readIntervalMs: 10_000_000 })
    await until(() => consumer.state.connected && consumer.state.waitingFor.length === 0)
    await rig.pipeline.produce(stage, 20)
    await until(() => one.rows.length === 20 && consumer.state.held === 0)
    expect(stage.spool.next()).to.include({ seq: 0 })
    return { one, remove, stage, consumer, close }
  }

  it('tells the spool, which needs the room', async () => {
    const { one, remove, stage } = await storedUnread()
    remove()
    rig.pipeline.registry.leaving('one', one.committed())
    await until(() => stage.spool.next() === null)
  })

  it('tells the spool also where the reader itself is deployed with it', async () => {
    const { one, remove, stage, close } = await storedUnread()
    await close()
    remove()
    rig.pipeline.registry.leaving('one', one.committed())
    await rig.pipeline.openConsumer([], { sinks: [disabled], readIntervalMs: 10_000_000 })
    await until(() => stage.spool.next() === null)
  })

  it('tells the spool of it once the sink is back, where its database hung when it went', async () => {
    const { one, remove, stage, consumer } = await storedUnread()
    remove()
    rig.pipeline.registry.leaving('one', new Promise(() => {}))
    consumer.wire([disabled])
    rig.pipeline.addSink(one)
    consumer.wire(wired('one'))
    await until(() => stage.spool.next() === null)
    expect([one.rows.length, one.duplicates]).to.deep.equal([20, 0])
  })
})
