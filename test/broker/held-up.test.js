import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { observed } from './observed.js'
import { FakeDatabase, until } from './pipeline.js'

describe('sinks behind one consumer', () => {
  const rig = observed()

  it('wait for one that could not be read yet, of which is said what the spools hold', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const [db, away] = ['db', 'away'].map(id => new FakeDatabase(id))
    let isAway = true
    const committed = away.committed.bind(away)
    away.committed = async () => {
      if (isAway) throw new Error('not reachable')
      return committed()
    }
    for (const each of [db, away]) rig.pipeline.addSink(each)
    const { it: consumer } = await rig.pipeline.openConsumer(['db', 'away'])
    await rig.pipeline.produce(stage, 5)
    await until(() => consumer.balances.filter(({ inFlight }) => inFlight === 5).length === 2, () => JSON.stringify(consumer.balances))
    expect(consumer.balances.map(({ id, produced, beforeItBegan, stored }) => [id, produced, beforeItBegan, stored]))
      .to.deep.equal([['db', 5, 0, 0], ['away', 5, 0, 0]])
    expect(consumer.heldUpBy).to.deep.equal([{ id: 'away', label: 'away' }])
    expect(consumer.state.waitingFor).to.deep.equal(['away'])
    expect(db.rows).to.deep.equal([])
    isAway = false
    await until(() => db.rows.length === 5 && away.rows.length === 5)
    expect(consumer.heldUpBy).to.deep.equal([])
    await until(() => consumer.balances.every(({ stored }) => stored === 5))
  })

  it('wait for one that stands still once there is room for nothing more, and not before', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const [db, still] = ['db', 'still'].map(id => new FakeDatabase(id))
    let goOn = () => {}
    still.busy = new Promise(resolve => { goOn = () => resolve(undefined) })
    for (const each of [db, still]) rig.pipeline.addSink(each)
    const { it: consumer } = await rig.pipeline.openConsumer(['db', 'still'], { window: 4, stillMs: 100 })
    await rig.pipeline.produce(stage, 3)
    await until(() => db.rows.length === 3)
    await sleep(200)
    expect(consumer.heldUpBy).to.deep.equal([])
    await rig.pipeline.produce(stage, 10)
    await until(() => consumer.heldUpBy.length > 0)
    expect(consumer.heldUpBy).to.deep.equal([{ id: 'still', label: 'still' }])
    expect(db.rows.length).to.equal(4)
    goOn()
    await until(() => db.rows.length === 13 && still.rows.length === 13)
    expect(consumer.heldUpBy).to.deep.equal([])
  })
})
