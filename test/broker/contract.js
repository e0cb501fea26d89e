import { expect } from 'chai'
import { batchOf, FakeDatabase, Pipeline, until } from './pipeline.js'

/**
 * The delivery protocol, clause by clause, over any broker.
 * @typedef {object} TestBroker
 * @property {import('./pipeline.js').TestedBroker} broker
 * @property {() => Promise<void>} loseEverything
 * @property {() => Promise<void>} restart
 * @property {() => Promise<void>} stop
 *
 * @param {() => Promise<TestBroker>} startBroker
 */
export function deliveryContract (startBroker) {
  /** @type {Awaited<ReturnType<startBroker>>} */
  let server
  /** @type {Pipeline} */
  let pipeline

  beforeEach(async () => {
    server = await startBroker()
    pipeline = await Pipeline.create(server.broker)
  })
  afterEach(async () => {
    await pipeline.close()
    await server.stop()
  })

  /** @param {number} count */
  const numbers = count => Array.from({ length: count }, (_, i) => i)

  /** Each produced row is there, none twice. @param {FakeDatabase} database */
  async function holdsExactlyTheProduced (database) {
    await until(() => database.rows.length >= pipeline.produced, () => `${pipeline.produced} rows, ${database.rows.length} are there`)
    await new Promise(resolve => setTimeout(resolve, 100))
    expect([...database.rows].sort((a, b) => a - b)).to.deep.equal(numbers(pipeline.produced))
  }

  it('stores what is staged, in order, and lets the spool go', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    await pipeline.openConsumer(['db'])
    const { it: stage } = await pipeline.openStage()
    await pipeline.produce(stage, 300)
    await until(() => database.rows.length === 300, () => `300 rows, there are ${database.rows.length}`)
    expect(database.rows).to.deep.equal(numbers(300))
    await until(() => stage.spool.next() === null)
    await until(() => stage.state.requiredSinks.join() === 'reading/db')
  })

  it('acknowledges only what is committed: a consumer that dies before gets it all again', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    const { it: stage } = await pipeline.openStage()
    /** @type {string[]} */
    const taken = []
    const dead = await pipeline.openConsumer(['db'], { flow: ({ id }) => { taken.push(id) } })
    await pipeline.produce(stage, 30)
    await until(() => taken.length >= 20)
    await dead.close()
    await pipeline.openConsumer(['db'])
    await holdsExactlyTheProduced(database)
  })

  it('leaves to the database what a consumer committed but could not acknowledge', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    const { it: stage } = await pipeline.openStage()
    const dead = await pipeline.openConsumer(['db'], { flow: ({ batch }) => { database.write(batch) } })
    await pipeline.produce(stage, 30)
    await until(() => database.rows.length >= 15)
    await dead.close()
    await pipeline.openConsumer(['db'])
    await holdsExactlyTheProduced(database)
  })

  it('survives a broker that loses sessions, queues and retained messages while data flows', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    await pipeline.openConsumer(['db'])
    const { it: stage } = await pipeline.openStage()
    for (let round = 0; round < 3; round++) {
      await pipeline.produce(stage, 50)
      await server.loseEverything()
      await pipeline.produce(stage, 50)
    }
    await holdsExactlyTheProduced(database)
  })

  it('finds a lost tail: the last batch of all is asked for though nothing comes after it', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    const { it: stage } = await pipeline.openStage()
    await pipeline.produce(stage, 20)
    await until(() => stage.state.connected)
    await server.loseEverything()
    await pipeline.openConsumer(['db'])
    await holdsExactlyTheProduced(database)
  })

  it('goes on with the same sessions after the broker was restarted', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    await pipeline.openConsumer(['db'])
    const { it: stage } = await pipeline.openStage()
    await pipeline.produce(stage, 50)
    await server.restart()
    await pipeline.produce(stage, 50)
    await holdsExactlyTheProduced(database)
  })

  it('sends what an earlier process left in the spool, in an epoch of its own', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    const before = await pipeline.openStage()
    await pipeline.produce(before.it, 20)
    await before.close()
    const { it: stage } = await pipeline.openStage()
    await pipeline.produce(stage, 20)
    await pipeline.openConsumer(['db'])
    await holdsExactlyTheProduced(database)
    expect(new Set([...database.records.values()].map(({ epoch }) => epoch)).size).to.equal(2)
  })

  it('holds what a slow database lets it, whatever the broker sends, and gets the rest from the spool', async () => {
    const database = new FakeDatabase('db')
    let letGo = () => {}
    database.busy = new Promise(resolve => { letGo = resolve })
    pipeline.addSink(database)
    const { it: consumer } = await pipeline.openConsumer(['db'], { window: 8 })
    const { it: stage } = await pipeline.openStage()
    await pipeline.produce(stage, 120)
    await until(() => consumer.state.held === 8)
    await new Promise(resolve => setTimeout(resolve, 300))
    expect(consumer.state.held).to.equal(8)
    database.busy = null
    letGo()
    await holdsExactlyTheProduced(database)
  })

  it('does not let a slow database hold back another, each with a stage in of its own', async () => {
    const [slow, fast] = [new FakeDatabase('slow'), new FakeDatabase('fast')]
    let letGo = () => {}
    slow.busy = new Promise(resolve => { letGo = resolve })
    pipeline.addSink(slow)
    pipeline.addSink(fast)
    await pipeline.openConsumer(['slow'], { reader: 'in-slow', window: 8 })
    await pipeline.openConsumer(['fast'], { reader: 'in-fast' })
    const { it: stage } = await pipeline.openStage()
    await pipeline.produce(stage, 200)
    await holdsExactlyTheProduced(fast)
    expect(slow.rows.length).to.equal(0)
    slow.busy = null
    letGo()
    await holdsExactlyTheProduced(slow)
  })

  it('gives a new sink all that the spool still holds, and a set-back database what it has lost', async () => {
    const first = new FakeDatabase('first')
    pipeline.addSink(first)
    await pipeline.openConsumer(['first'], { reader: 'in-first' })
    const { it: stage } = await pipeline.openStage()
    await pipeline.produce(stage, 30)
    await holdsExactlyTheProduced(first)

    const late = new FakeDatabase('late')
    const remove = pipeline.addSink(late)
    await pipeline.openConsumer(['late'], { reader: 'in-late' })
    await holdsExactlyTheProduced(late)

    for (const [key, { seq }] of [...late.records]) if (seq >= 10) late.records.delete(key)
    late.rows = late.rows.filter(value => value < 10)
    remove()
    pipeline.addSink(late)
    await holdsExactlyTheProduced(late)
  })

  it('waits for a sink whose database has not answered yet, though another has stored everything', async () => {
    const before = await pipeline.openStage()
    // An epoch that ends at once, as of a gateway killed after its start: its segment can go as soon as it is stored.
    await pipeline.produce(before.it, 10)
    await before.close()
    const { it: stage } = await pipeline.openStage()
    const [here, down] = [new FakeDatabase('here'), new FakeDatabase('down')]
    const answer = down.committed.bind(down)
    down.committed = async () => { throw new Error('connection refused') }
    pipeline.addSink(here)
    pipeline.addSink(down)
    await pipeline.openConsumer(['down'], { reader: 'in-down' })
    // One that the spool has not heard of is not waited for.
    await until(() => stage.state.requiredSinks.includes('reading/down'), () => 'the sink to announce itself')
    await pipeline.openConsumer(['here'], { reader: 'in-here' })
    await holdsExactlyTheProduced(here)
    down.committed = answer
    await holdsExactlyTheProduced(down)
  })

  it('keeps deliveries while a sink is away, and emits them again when it is back', async () => {
    const database = new FakeDatabase('db')
    const remove = pipeline.addSink(database)
    await pipeline.openConsumer(['db'])
    const { it: stage } = await pipeline.openStage()
    await pipeline.produce(stage, 20)
    remove()
    await pipeline.produce(stage, 40)
    await new Promise(resolve => setTimeout(resolve, 200))
    pipeline.addSink(database)
    await holdsExactlyTheProduced(database)
  })

  it('emits again what a flow lost on the way, then parks and counts it; the next deploy tries again', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    const { it: stage } = await pipeline.openStage()
    let emitted = 0
    const leaky = await pipeline.openConsumer(['db'], {
      overdueMs: 100,
      attempts: 3,
      flow: delivery => {
        if (delivery.batch.columns[0][0] !== 3) pipeline.store(delivery, 'db')
        else emitted++
      }
    })
    await pipeline.produce(stage, 10)
    await until(() => leaky.it.state.parked === 1)
    expect(emitted).to.equal(3)
    expect(database.rows.length).to.equal(9)
    expect(leaky.it.state.held).to.equal(0)
    await leaky.close()
    await pipeline.openConsumer(['db'])
    await holdsExactlyTheProduced(database)
  })

  it('lets go of what a flow drops on purpose', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    const { it: stage } = await pipeline.openStage()
    await pipeline.openConsumer(['db'], {
      flow: delivery => {
        if (Number(delivery.batch.columns[0][0]) % 2 === 0) pipeline.store(delivery, 'db')
        else pipeline.deliveries.drop(delivery.attemptId, null)
      }
    })
    await pipeline.produce(stage, 10)
    await until(() => database.records.size === 10)
    expect(database.rows).to.have.members([0, 2, 4, 6, 8])
    await until(() => stage.spool.next() === null, undefined, 60_000) // over Kafka, some times that what others say is fetched
  })

  it('settles a split batch when all its parts are stored', async () => {
    const database = new FakeDatabase('db')
    pipeline.addSink(database)
    const { it: stage } = await pipeline.openStage()
    /** @type {{id: string, parts: {id: string, index: number, count: number}[]}[]} */
    const split = []
    await pipeline.openConsumer(['db'], {
      flow: ({ attemptId: id }) => split.push({ id, parts: [0, 1, 2].map(index => ({ id: `split-${id}`, index, count: 3 })) })
    })
    await pipeline.produce(stage, 1)
    await until(() => split.length === 1)
    const [{ id, parts }] = split
    for (const part of parts) {
      expect(database.records.size).to.equal(0)
      expect(pipeline.deliveries.accept(id, 'db', { identified: false, part })).to.equal(true)
      expect(pipeline.deliveries.accept(id, 'db', { identified: false, part }), 'the same part again').to.equal(false)
      await database.write(batchOf(part.index))
      pipeline.deliveries.settle(id, 'db', { identified: false, part })
    }
    await until(() => database.records.size === 1)
    expect(database.rows).to.deep.equal([0, 1, 2])
  })

  it('waits no more for the sinks of a reader that is gone', async () => {
    const gone = new FakeDatabase('gone')
    pipeline.addSink(gone)
    const { it: stage } = await pipeline.openStage()
    const consumer = await pipeline.openConsumer(['gone'])
    await pipeline.produce(stage, 5)
    await holdsExactlyTheProduced(gone)
    await until(() => stage.state.requiredSinks.includes('reading/gone'))
    consumer.it.close({ removed: true })
    await until(() => stage.state.requiredSinks.length === 0)
  })
}
