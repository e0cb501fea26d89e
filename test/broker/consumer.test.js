import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../broker/connection/connection.js'
import { Stage } from '../../broker/out/stage.js'
import { peekIdentity } from '../../gateway/messages/codecs/arrow/arrow.js'
import { observed } from './observed.js'
import { batchOf, FakeDatabase, Pipeline, until } from './pipeline.js'

/** @typedef {import('../../broker/in/consumer.js').Consumer} Consumer */

const silent = { info () {}, warn () {}, error () {} }
const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i)

describe('consumer, clause by clause', () => {
  const rig = observed()

  /**
   * Does something to messages on their way into a consumer.
   * @param {Consumer} consumer
   * @param {(packet: any, ack: () => void, receive: Consumer['receive']) => void} handle
   */
  function intercept (consumer, handle) {
    const receive = consumer.receive.bind(consumer)
    consumer.receive = (packet, ack) => handle(packet, ack, receive)
  }

  /** @param {Partial<import('../../broker/in/consumer.js').ConsumerOptions> & {flow?: any}} [options] */
  async function openSink (options) {
    const database = new FakeDatabase('db')
    rig.pipeline.addSink(database)
    const { it: consumer, close } = await rig.pipeline.openConsumer(['db'], options)
    return { database, consumer, close }
  }

  it('acknowledges nothing before the database has committed it', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const { database, consumer } = await openSink()
    let commit = () => {}
    database.busy = new Promise(resolve => { commit = () => resolve(undefined) })
    let acknowledged = 0
    intercept(consumer, ({ topic, ...packet }, ack, receive) => receive({ topic, ...packet }, () => {
      if (topic.endsWith('/data')) acknowledged++
      ack()
    }))
    await rig.pipeline.produce(stage, 5)
    await until(() => consumer.state.held === 5)
    await sleep(300)
    expect(acknowledged).to.equal(0)
    commit()
    await until(() => acknowledged === 5)
    expect(database.rows).to.have.length(5)
  })

  it('stores what comes after a gap without waiting for it, and then asks for the gap alone', async () => {
    const asked = await rig.listen('sluice/v1/gw/press/replay/db')
    const { it: stage } = await rig.pipeline.openStage()
    const { database, consumer } = await openSink({ quietMs: 60_000 })
    intercept(consumer, (packet, ack, receive) => {
      const isLost = packet.topic.endsWith('press/data') && peekIdentity(packet.payload)?.seq === 3
      if (isLost) ack()
      else receive(packet, ack)
    })
    await until(() => consumer.state.connected)
    await rig.pipeline.produce(stage, 8)
    await until(() => database.rows.length === 8)
    expect(database.rows).to.deep.equal([0, 1, 2, 4, 5, 6, 7, 3])
    expect(Object.values(JSON.parse(asked[0].payload.toString()).epochs)).to.deep.equal([[[3, 3]]])
  })

  it('asks for the last batch of all, after which nothing comes', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const { database, consumer } = await openSink()
    intercept(consumer, (packet, ack, receive) => {
      const isLost = packet.topic.endsWith('press/data') && peekIdentity(packet.payload)?.seq === 7
      if (isLost) ack()
      else receive(packet, ack)
    })
    await until(() => consumer.state.connected)
    await rig.pipeline.produce(stage, 8)
    await until(() => database.rows.length === 8)
    expect(consumer.state.resent).to.equal(1)
  })

  it('tells on connecting what its database has, so that a spool need not send it', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const database = new FakeDatabase('db')
    for (const value of numbers(5)) await database.write(batchOf(value).withIdentity(await stage.append(batchOf(value))))
    rig.pipeline.addSink(database)
    const { it: consumer } = await rig.pipeline.openConsumer(['db'])
    await until(() => stage.spools.get('press')?.next() === null && consumer.state.held === 0)
    expect(database.duplicates).to.equal(0)
    await sleep(800) // the head has come; what it has told, the broker keeps for who comes later
    const heard = await rig.listen('sluice/v1/gw/press/commit/db')
    await until(() => heard.length === 1)
    expect(Object.values(JSON.parse(heard[0].payload.toString()).epochs)).to.deep.equal([[[0, 4]]])
  })

  it('tells it again when it connects again: the broker may have forgotten', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const { database } = await openSink()
    await rig.pipeline.produce(stage, 5)
    await until(() => database.rows.length === 5)
    await sleep(300) // now it has been told
    await rig.restartBroker()
    const heard = await rig.listen('sluice/v1/gw/press/commit/db')
    await until(() => heard.length > 0)
    expect(Object.values(JSON.parse(heard[0].payload.toString()).epochs)).to.deep.equal([[[0, 4]]])
  })

  it('tells it again where a spool sends what is stored: that spool does not know', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const { database } = await openSink()
    await rig.pipeline.produce(stage, 5)
    await until(() => stage.spools.get('press')?.next() === null && database.rows.length === 5)
    await rig.tell('sluice/v1/gw/press/commit/db', { epochs: {} })
    await until(() => stage.spools.get('press')?.next() !== null)
    const [{ epoch }] = stage.spools.get('press')?.epochs ?? []
    await rig.tell('sluice/v1/gw/press/replay/db', { epochs: { [epoch]: [[0, 0]] } })
    await until(() => stage.spools.get('press')?.next() === null)
    expect(database.rows).to.have.length(5)
  })

  it('counts as lost what the spool had to drop, and no more', async () => {
    const { it: stage } = await rig.pipeline.openStage({ maxBytes: 40_000, whenFull: 'drop-oldest' })
    const { database, close } = await openSink()
    await rig.pipeline.produce(stage, 5)
    await until(() => database.rows.length === 5 && stage.spools.get('press')?.next() === null)
    await close()
    for (let i = 0; i < 20; i++) await rig.pipeline.produce(stage, 5)
    const { it: again } = await rig.pipeline.openConsumer(['db'])
    await until(() => again.state.lost > 0 && database.rows.length === 105 - again.state.lost)
    expect(again.state.shortfall).to.equal(0)
    expect(stage.state.droppedBatches, 'some of what it dropped was with the broker already').to.be.at.least(again.state.lost)
  })

  it('has nothing lost and nothing short before its database has told what it has', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const database = new FakeDatabase('db')
    for (const value of numbers(5)) await database.write(batchOf(value).withIdentity(await stage.append(batchOf(value))))
    const head = { epochs: [{ epoch: [...database.records.values()][0].epoch, first: 5, last: 5 }] }
    await rig.tell('sluice/v1/gw/press/head', head)
    const { it: consumer } = await rig.pipeline.openConsumer(['db'])
    consumer.receive({ topic: 'sluice/v1/gw/press/head', payload: Buffer.from(JSON.stringify(head)) }, () => {})
    expect(consumer.state).to.include({ lost: 0, shortfall: 0 })
    rig.pipeline.addSink(database)
    await until(() => consumer.state.waitingFor.length === 0)
    expect(consumer.state).to.include({ lost: 0, shortfall: 0 })
  })

  it('says how much a new sink can never have', async () => {
    const { consumer } = await openSink()
    await until(() => consumer.state.connected)
    await rig.tell('sluice/v1/gw/press/head', { epochs: [{ epoch: '3-aaaaaaaa', first: 1000, last: 1010 }] })
    await until(() => consumer.state.shortfall > 0)
    expect(consumer.state).to.include({ shortfall: 1000, lost: 0 })
  })

  it('goes on after a head that makes no sense, though the broker keeps it', async () => {
    for (const epoch of [5, '__proto__', null]) {
      await rig.tell('sluice/v1/gw/other/head', { epochs: [{ epoch, first: 0, last: 5 }] }, true)
      const { it: stage } = await rig.pipeline.openStage()
      const { database } = await openSink()
      await sleep(300)
      await rig.pipeline.produce(stage, 1)
      await until(() => database.rows.length === 1)
      await rig.pipeline.close()
      rig.pipeline = await Pipeline.create(rig.address)
    }
  })

  it('takes what comes on its own topics only: nothing it says itself, nothing an earlier deploy subscribed to', async () => {
    const { close } = await openSink({ source: 'press' })
    await until(() => rig.broker.stats().clients >= 2)
    await close()
    const { it: stage } = await rig.pipeline.openStage()
    const { it: consumer } = await rig.pipeline.openConsumer(['db'], { source: 'oven' })
    await until(() => consumer.state.connected)
    await Promise.all([batchOf(0), batchOf(1, 'oven')].map(batch => stage.append(batch)))
    await until(() => stage.state.requiredSinks.length > 0 && consumer.state.received > 0)
    await sleep(400)
    expect(consumer.state.received).to.equal(1)
  })

  it('has a message without identity on its own topics kept, and tries until it is, as the acknowledgements behind it wait', async () => {
    let attempts = 0
    const { consumer, database } = await openSink({
      onThirdParty: async () => { if (++attempts < 3) throw new Error('the disk is full') }
    })
    await until(() => consumer.state.connected)
    const { it: stage } = await rig.pipeline.openStage()
    let acknowledged = 0
    intercept(consumer, (packet, ack, receive) => receive(packet, () => {
      if (packet.topic.endsWith('hall/data')) acknowledged++
      ack()
    }))
    await rig.tell('sluice/v1/gw/hall/data', 21)
    await until(() => acknowledged === 1)
    expect(attempts).to.equal(3)
    await rig.pipeline.produce(stage, 3)
    await until(() => database.rows.length === 3)
  })

  it('records that a changed batch is dealt with as soon as a sink that was redeployed is back', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const database = new FakeDatabase('db')
    const remove = rig.pipeline.addSink(database)
    /** @type {string[]} */
    const emitted = []
    const changed = { identified: false, part: null }
    const { it: consumer } = await rig.pipeline.openConsumer(['db'], { flow: ({ attemptId }) => { emitted.push(attemptId) } })
    await rig.pipeline.produce(stage, 1)
    await until(() => emitted.length === 1)
    rig.pipeline.deliveries.accept(emitted[0], 'db', changed)
    remove() // a deploy: the sink drains what it holds before it goes
    await database.write(batchOf(0))
    rig.pipeline.deliveries.settle(emitted[0], 'db', changed)
    await sleep(50)
    rig.pipeline.addSink(database)
    await until(() => consumer.state.held === 0)
    expect(database.records.size).to.equal(1)
    expect(emitted).to.have.length(1)
  })

  it('is not held up by changed batches of which more may come', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const database = new FakeDatabase('db')
    rig.pipeline.addSink(database)
    const { deliveries } = rig.pipeline
    const { it: consumer } = await rig.pipeline.openConsumer(['db'], {
      window: 4,
      deliveries: { open: delivery => deliveries.open({ ...delivery, quietMs: 600_000 }), close: id => deliveries.close(id) },
      flow: delivery => rig.pipeline.store(delivery, 'db', batchOf(delivery.identity.seq))
    })
    await rig.pipeline.produce(stage, 20)
    await until(() => database.rows.length === 20)
    expect(database.records.size).to.equal(0)
    expect(consumer.state.held).to.equal(20)
  })

  it('waits as long as it takes for one of its sinks that comes back later than another', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const [one, two] = [new FakeDatabase('one'), new FakeDatabase('two')]
    const removals = [rig.pipeline.addSink(one), rig.pipeline.addSink(two)]
    let isDeploying = true
    const sinks = ['one', 'two']
    const { it: consumer } = await rig.pipeline.openConsumer(sinks, {
      flow: delivery => { for (const sink of isDeploying ? ['two'] : sinks) rig.pipeline.store(delivery, sink) }
    })
    await rig.pipeline.produce(stage, 3)
    await until(() => two.rows.length === 3 && consumer.state.held === 3)
    for (const remove of removals) remove()
    isDeploying = false
    rig.pipeline.addSink(one)
    await sleep(50)
    rig.pipeline.addSink(two)
    await until(() => one.rows.length === 3 && consumer.state.held === 0)
    expect(two.rows).to.have.length(3)
  })

  it('serves two spools that stage one source', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const folder = await mkdtemp(join(tmpdir(), 'sluice-second-'))
    const connection = connect(rig.address, { clientId: 'second', clean: false })
    const second = await Stage.open({ folder, gateway: 'gw', client: connection.client, log: silent, headIntervalMs: 300 })
    const { database, consumer } = await openSink()
    await rig.pipeline.produce(stage, 5)
    for (const value of numbers(5)) await second.append(batchOf(5 + value))
    await until(() => database.rows.length === 10)
    await until(() => [stage, second].every(({ spools }) => spools.get('press')?.next() === null))
    await sleep(700) // the heads of both have come
    expect(consumer.state).to.include({ lost: 0, shortfall: 0 })
    expect([...database.rows].sort((a, b) => a - b)).to.deep.equal(numbers(10))
    await second.close()
    await connection.close()
    await rm(folder, { recursive: true })
  })
})
