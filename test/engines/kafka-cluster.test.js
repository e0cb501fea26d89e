import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { connect } from '../../gateway/databases/kafka/connection.js'
import { deliveryContract } from '../broker/contract.js'
import { KafkaStaging } from '../broker/kafka/staging.js'
import { batchOf, FakeDatabase, Pipeline, until } from '../broker/pipeline.js'

const SOURCES = Array.from({ length: 12 }, (_, i) => `machine-${i}`)
/** For a broker that has died to be missed, and the others to take over what it led. */
const TAKEN_OVER_MS = 240_000
/** A dead one is missed soon; one that waits for a busy machine is not taken for dead. */
const settings = 'broker.session.timeout.ms=6000\nbroker.heartbeat.interval.ms=500'

describe('Staged in three brokers of Kafka, with TLS and a login', function () {
  this.timeout(600_000)
  const kafka = KafkaStaging.inSuite({ brokers: 3, tls: true, login: true, settings })

  /** @param {import('../servers/kafka.js').KafkaServer} server  the only one that is named */
  function connectTo ({ port }) {
    return connect({ ...kafka.options, host: '127.0.0.1', port })
  }

  /** How many brokers one of them tells of. @param {import('../servers/kafka.js').KafkaServer} server */
  async function countOf (server) {
    const client = connectTo(server).client()
    try {
      return (await client.cluster()).brokers.size
    } finally {
      await client.close()
    }
  }

  describe('the delivery contract', () => {
    let killed = 0
    deliveryContract(async () => ({
      broker: { kafka: kafka.options },
      loseEverything: () => kafka.clear(),
      async restart () {
        const server = kafka.servers[killed++ % kafka.servers.length]
        await server.kill()
        await server.start()
      },
      stop: () => kafka.clear()
    }))
  })

  it('brokers that were known once stay known, to all clients: the one that is named, and those told of last, may be away', async () => {
    const [named, back, third] = kafka.servers
    const cluster = connectTo(named)
    const first = cluster.client()
    await first.cluster()
    await back.kill()
    for (const server of [named, third]) while (await countOf(server) > 2) await sleep(100)
    await first.cluster()
    await back.start()
    await Promise.all([named.kill(), third.kill()])
    const later = cluster.client()
    for (const client of [first, later]) {
      expect((await client.cluster()).id).to.be.a('string')
      await client.close()
    }
    await Promise.all([named.start(), third.start()])
  })

  describe('while data flow', () => {
    /** @type {Pipeline} */
    let pipeline
    /** @type {FakeDatabase} */
    let database
    /** @type {{value: number, end: () => Promise<void>}} */
    let source

    /** @param {Record<string, unknown>} options  of the connection */
    async function open (options) {
      pipeline = await Pipeline.create({ kafka: options })
      database = new FakeDatabase('history')
      pipeline.addSink(database)
      await pipeline.openConsumer(['history'])
      const { it: stage } = await pipeline.openStage()
      source = flowing(stage)
      await stored(100)
    }

    /** @param {import('../../broker/out/stage.js').Stage} stage */
    function flowing (stage) {
      const its = { value: 0, end: async () => {} }
      let isOn = true
      const ended = (async () => {
        for (; isOn; await new Promise(resolve => setTimeout(resolve, 5))) {
          await stage.append(batchOf(its.value, SOURCES[its.value % SOURCES.length]))
          its.value++
        }
      })()
      its.end = async () => {
        isOn = false
        await ended
        await until(() => stage.spool.next() === null, () => 'a spool that has nothing more to send', TAKEN_OVER_MS)
      }
      return its
    }

    /** So many more rows than there are now, and all that are produced until now. @param {number} more */
    async function stored (more) {
      const wanted = Math.max(database.rows.length + more, source.value)
      await until(() => database.rows.length >= wanted, () => `${wanted} rows, ${database.rows.length} are there`, TAKEN_OVER_MS)
    }

    async function holdsExactlyTheProduced () {
      await source.end()
      await stored(0)
      expect([...database.rows].sort((a, b) => a - b)).to.deep.equal(Array.from({ length: source.value }, (_, i) => i))
    }

    afterEach(async () => {
      await source?.end()
      await pipeline.close()
      await kafka.clear()
    })

    it('each of them may die: the others go on, and nothing is lost or stored twice', async () => {
      await open(kafka.options)
      for (const server of kafka.servers) {
        await server.kill()
        await stored(300)
        await server.start()
        await stored(300)
      }
      await holdsExactlyTheProduced()
    })

    it('each of them may be restarted while the others lead what it led', async () => {
      await open(kafka.options)
      for (const server of kafka.servers) {
        await server.stop()
        await server.start()
        await stored(300)
      }
      await holdsExactlyTheProduced()
    })

    it('the one that was named may die: the others are known by then', async () => {
      const [named] = kafka.servers
      await open({ ...kafka.options, host: '127.0.0.1', port: named.port })
      await named.kill()
      await stored(1000)
      await named.start()
      await holdsExactlyTheProduced()
    })

    it('one of those that were named may be away from the beginning', async () => {
      const [away] = kafka.servers
      await away.kill()
      await open(kafka.options)
      await stored(300)
      await away.start()
      await holdsExactlyTheProduced()
    })
  })
})
