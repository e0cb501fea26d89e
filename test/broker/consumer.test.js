import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
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
      if (topic.includes('/data/')) acknowledged++
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
    const asked = await rig.listen('sluice/v2/reading/resend/in/gw')
    const { it: stage } = await rig.pipeline.openStage()
    const { database, consumer } = await openSink({ quietMs: 60_000 })
    intercept(consumer, (packet, ack, receive) => {
      const isLost = packet.topic.endsWith('data/press') && peekIdentity(packet.payload)?.seq === 3
      if (isLost) ack()
      else receive(packet, ack)
    })
    await until(() => consumer.state.connected)
    await rig.pipeline.produce(stage, 8)
    await until(() => database.rows.length === 8)
    expect(database.rows).to.deep.equal([0, 1, 2, 4, 5, 6, 7, 3])
    expect(Object.values(JSON.parse(asked[0].payload.toString()).sources.press)).to.deep.equal([[[3, 3]]])
  })

  it('asks for the last batch of all, after which nothing comes', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const { database, consumer } = await openSink()
    intercept(consumer, (packet, ack, receive) => {
      const isLost = packet.topic.endsWith('data/press') && peekIdentity(packet.payload)?.seq === 7
      if (isLost) ack()
      else receive(packet, ack)
    })
    await until(() => consumer.state.connected)
    await rig.pipeline.produce(stage, 8)
    await until(() => database.rows.length === 8)
    expect(consumer.state.resent).to.equal(1)
  })

  /** The ranges that a commit has of a source, without their sums. @param {{payload: Buffer}|undefined} message */
  const ranges = message => {
    const { sources: { press = {} } } = JSON.parse(String(message?.payload))
    return Object.values(press).map(its => its.map((/** @type {any} */ [first, last]) => [first, last]))
  }

  it('answers a head with what its database has, so that the spool need not send it', async () => {
    const heard = await rig.listen('sluice/v2/reading/commit/db/gw')
    const { it: stage } = await rig.pipeline.openStage()
    const database = new FakeDatabase('db')
    for (const value of numbers(5)) {
      const [identity] = await stage.append(batchOf(value))
      await database.write(batchOf(value).withIdentity({ ...identity, hash: (await stage.spool.read(identity))?.hash }))
    }
    rig.pipeline.addSink(database)
    const { it: consumer } = await rig.pipeline.openConsumer(['db'])
    await until(() => stage.spool.next() === null && consumer.state.held === 0)
    expect(database.duplicates).to.equal(0)
    expect(ranges(heard.at(-1))).to.deep.equal([[[0, 4]]])
  })

  it('answers again when it connects again: the broker may have forgotten', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const { database } = await openSink()
    await rig.pipeline.produce(stage, 5)
    await until(() => database.rows.length === 5 && stage.spool.next() === null) // now it has been told
    await rig.restartBroker()
    const heard = await rig.listen('sluice/v2/reading/commit/db/gw')
    await until(() => heard.length > 0)
    expect(ranges(heard.at(-1))).to.deep.equal([[[0, 4]]])
  })

  it('answers again where a spool sends what is stored: that spool does not know', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const { database, consumer } = await openSink()
    await rig.pipeline.produce(stage, 5)
    await until(() => stage.spool.next() === null && database.rows.length === 5)
    const heard = await rig.listen('sluice/v2/reading/commit/db/gw')
    const [{ epoch }] = stage.spool.head.sources[0].epochs
    await rig.pipeline.produce(stage, 1)
    await rig.tell('sluice/v2/reading/resend/in/gw', { sources: { press: { [epoch]: [[5, 5]] } } })
    await until(() => heard.length > 0 && consumer.state.duplicates + consumer.state.redelivered > 0)
    expect(database.rows).to.have.length(6)
  })

  it('answers only with what a reading has found that began after it was written', async () => {
    const heard = await rig.listen('sluice/v2/reading/commit/db/gw')
    const { it: stage } = await rig.pipeline.openStage()
    const { database } = await openSink()
    const read = database.committed.bind(database)
    await until(() => database.readings > 0)
    database.committed = async () => ({ ...await read(), records: [] }) // what is written is not there
    await rig.pipeline.produce(stage, 5)
    await until(() => database.rows.length === 5)
    const { readings } = database
    await until(() => database.readings > readings + 2)
    expect(heard.flatMap(message => ranges(message)).flat()).to.deep.equal([])
    expect(stage.spool.next()).to.not.equal(null)
  })

  it('reads again while there is something to report, and no more than that', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const { database } = await openSink()
    await rig.pipeline.produce(stage, 5)
    await until(() => stage.spool.next() === null)
    await sleep(400) // what was committed while it was read
    const { readings } = database
    await sleep(600)
    expect(database.readings).to.equal(readings)
  })

  it('requests what a database has lost that was set back, and counts it', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const other = new FakeDatabase('other') // keeps the spool from letting go
    rig.pipeline.addSink(other)
    await rig.pipeline.openConsumer(['other'], { reader: 'in-other', consumer: 'away', flow: () => {} })
    const { database, consumer } = await openSink()
    await rig.pipeline.produce(stage, 10)
    await until(() => database.rows.length === 10)
    await sleep(300)
    for (const [key, { seq }] of [...database.records]) if (seq >= 4) database.records.delete(key)
    database.rows = database.rows.filter(value => value < 4)
    rig.pipeline.registry.emit('setBack', 'db')
    await until(() => database.rows.length === 10)
    expect(consumer.state.setBack).to.equal(6)
  })

  it('requests what another database lacks that has taken the place of the first', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const other = new FakeDatabase('other')
    rig.pipeline.addSink(other)
    await rig.pipeline.openConsumer(['other'], { reader: 'in-other', consumer: 'away', flow: () => {} })
    /** @type {string[]} */
    const warnings = []
    const { database } = await openSink({ log: { ...silent, warn: text => { warnings.push(text) } } })
    await rig.pipeline.produce(stage, 5)
    await until(() => database.rows.length === 5)
    Object.assign(database, { store: 'another', rows: [], records: new Map() })
    rig.pipeline.registry.emit('setBack', 'db')
    await until(() => database.rows.length === 5)
    expect(warnings.join()).to.include('The database of sink "db" is another than before: 5 batches')
  })

  it('counts as lost what the spool had to drop, and no more', async () => {
    const { it: stage } = await rig.pipeline.openStage({ maxBytes: 40_000, whenFull: 'drop-oldest' })
    const { database, close } = await openSink()
    await rig.pipeline.produce(stage, 5)
    await until(() => database.rows.length === 5 && stage.spool.next() === null)
    await close()
    for (let i = 0; i < 20; i++) await rig.pipeline.produce(stage, 5)
    const { it: again } = await rig.pipeline.openConsumer(['db'])
    await until(() => again.state.lostRows > 0 && database.rows.length === 105 - again.state.lostRows)
    expect(again.balances.map(({ produced, stored, lost, inFlight, beforeItBegan }) => [produced, stored + lost, inFlight, beforeItBegan]))
      .to.deep.equal([[105, 105, 0, 0]])
  })

  const head = (/** @type {number} */ first, /** @type {number} */ last) => ({
    sources: [{ source: 'press', rows: last + 1, epochs: [['3-aaaaaaaa', first, last, first, last + 1]] }]
  })

  it('says how much was before a new sink began', async () => {
    const { consumer } = await openSink()
    await until(() => consumer.state.connected)
    await rig.tell('sluice/v2/other/head/out', head(1000, 1010))
    await until(() => consumer.balances.length > 0)
    expect(consumer.balances[0]).to.include({ gateway: 'other', produced: 1011, beforeItBegan: 1000, lost: 0, inFlight: 11 })
  })

  it('is not held up by the head of a gateway that is gone', async () => {
    await rig.tell('sluice/v2/ghost/head/out', head(0, 5000), true)
    const { it: stage } = await rig.pipeline.openStage()
    const { database, consumer } = await openSink({ window: 10 })
    intercept(consumer, (packet, ack, receive) => {
      const isLost = packet.topic.endsWith('data/press') && (peekIdentity(packet.payload)?.seq ?? 0) < 40
      if (isLost) ack()
      else receive(packet, ack)
    })
    await until(() => consumer.state.connected)
    await rig.pipeline.produce(stage, 50)
    await until(() => database.rows.length === 50)
  })

  it('goes on after a head that makes no sense, though the broker keeps it, and counts it', async () => {
    for (const epoch of [5, '__proto__', null]) {
      await rig.tell('sluice/v2/gw/head/other', { sources: [{ source: 'press', rows: 6, epochs: [[epoch, 0, 5, 0, 6]] }] }, true)
      const { it: stage } = await rig.pipeline.openStage()
      const { database, consumer } = await openSink()
      await until(() => consumer.state.ignored > 0)
      await rig.pipeline.produce(stage, 1)
      await until(() => database.rows.length === 1)
      await rig.pipeline.close()
      rig.pipeline = await Pipeline.create(rig.address)
    }
  })

  it('says once what a gateway sends that makes no sense, however many names it has for it', async () => {
    /** @type {string[]} */
    const warnings = []
    const { consumer } = await openSink({ log: { ...silent, warn: text => { warnings.push(text) } } })
    const nonsense = Buffer.from('7')
    for (let i = 0; i < 1000; i++) consumer.receive({ topic: `sluice/v2/evil/head/n${i}%0A`, payload: nonsense }, () => {})
    consumer.receive({ topic: 'sluice/v2/other/head/out', payload: nonsense }, () => {})
    expect(consumer.state.ignored).to.equal(1001)
    expect(warnings.map(text => text.split(': ')[0]))
      .to.deep.equal(['Ignored a head on sluice/v2/evil/head/n0%0A', 'Ignored a head on sluice/v2/other/head/out'])
  })

  it('takes what comes on its own topics only: nothing it says itself, nothing an earlier deploy subscribed to', async () => {
    const { close } = await openSink({ source: 'press' })
    await until(() => rig.broker.stats().clients >= 2)
    await close()
    const { it: stage } = await rig.pipeline.openStage()
    const { it: consumer } = await rig.pipeline.openConsumer(['db'], { source: 'oven' })
    await until(() => consumer.state.connected)
    await Promise.all([batchOf(0), batchOf(1, 'oven')].map(batch => stage.append(batch)))
    await until(() => consumer.state.received > 0)
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
      if (packet.topic.endsWith('data/hall')) acknowledged++
      ack()
    }))
    await rig.tell('sluice/v2/gw/data/hall', 21)
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
    const { it: second } = await rig.pipeline.openStage({ name: 'second' })
    const { database, consumer } = await openSink()
    await rig.pipeline.produce(stage, 5)
    await rig.pipeline.produce(second, 5)
    await until(() => database.rows.length === 10)
    await until(() => [stage, second].every(({ spool }) => spool.next() === null))
    await until(() => consumer.balances[0]?.stored === 10)
    expect(consumer.balances[0]).to.include({ produced: 10, lost: 0, beforeItBegan: 0, inFlight: 0 })
    expect([...database.rows].sort((a, b) => a - b)).to.deep.equal(numbers(10))
  })
})
