import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { connect } from '../../gateway/databases/cassandra/connection.js'
import { isTransient, open } from '../../gateway/databases/cassandra/sink.js'
import { batchOf, identity } from '../databases/contract/batches.js'
import { missingCassandra, startCassandraCluster } from '../servers/cassandra.js'
import { requireServer } from '../servers/programs.js'

/** What a silent node may cost: once, the time after which it is given up; on a busy machine. */
const SILENCE_MS = 45_000

describe('Cassandra of three nodes', function () {
  this.timeout(300_000)
  /** @type {import('../servers/cassandra.js').CassandraServer[]} */
  let servers = []
  /** @type {import('../../gateway/databases/cassandra/connection.js').CassandraServer[]} */
  const opened = []
  let keyspaces = 0

  before(async function () {
    requireServer(this, 'cassandra', missingCassandra())
    servers = await startCassandraCluster(3)
    const { port, host } = servers[0]
    const server = connect({ host, port })
    while (await server.use(async client => client.hosts.length) < 3) await sleep(200)
    await server.close()
  })

  afterEach(async () => {
    for (const server of opened.splice(0)) await server.close()
  })

  after(async () => {
    for (const server of servers) await server.remove()
  })

  function connected () {
    const host = servers.map(server => server.host).join(',')
    const server = connect({ host, port: servers[0].port, database: `three${keyspaces}` })
    opened.push(server)
    return server
  }

  /** In a keyspace of its own, with a first row. */
  async function openSink () {
    keyspaces++
    const sink = await open({}, { server: connected() })
    await store(sink, batchOf([0], { identity: identity(0) }))
    return sink
  }

  /**
   * As the writer does, again and again: a node may not know a new table yet.
   * @param {import('../../gateway/databases/sink.js').Sink} sink
   * @param {import('../../gateway/batch/batch.js').Batch} batch
   */
  async function store (sink, batch) {
    for (;;) {
      try {
        return await sink.write([batch])
      } catch (error) {
        if (!isTransient(error)) throw error
        await sleep(200)
      }
    }
  }

  /** @param {() => Promise<unknown>} work */
  async function took (work) {
    const beganMs = performance.now()
    await work()
    return performance.now() - beganMs
  }

  /** @param {() => Promise<unknown>} work */
  async function whileSilent (work) {
    const pid = /** @type {number} */ (servers[1].pid)
    process.kill(pid, 'SIGSTOP')
    try {
      await work()
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  }

  it('waits once, and not at each request, for a node that is silent and was not missed yet', async () => {
    const sink = await openSink()
    await whileSilent(async () => {
      expect(await took(async () => {
        for (let seq = 1; seq <= 20; seq++) await store(sink, batchOf([seq], { identity: identity(seq) }))
      })).to.be.below(SILENCE_MS)
    })
    const { rows } = await connected().use(client => client.execute(`SELECT force FROM three${keyspaces}.press`))
    expect(rows.map(({ force }) => force).sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 21 }, (_, seq) => seq))
  })

  it('is reached while a node is silent, and Test connection names it, and says how many must answer', async () => {
    await openSink()
    await whileSilent(async () => {
      expect(await connected().test()).to.match(/^Cassandra 5\.\S+, 3 nodes \(not reached: 127\.0\.0\.2:\d+\), .* 3 nodes, 2 of which must/)
      expect(await connected().test()).to.match(/not reached: 127\.0\.0\.2/) // whichever it asks first
    })
  })

  it('advises more replicas where a keyspace does not survive a node that is away', async () => {
    await openSink()
    await connected().use(client => client.execute(`ALTER KEYSPACE three${keyspaces} WITH replication = ` +
      '{\'class\': \'SimpleStrategy\', \'replication_factor\': 2}'))
    expect(await connected().test()).to.match(/on 2 nodes, 2 of which must answer: while one is away.*three replicas/)
  })

  it('makes new tables while a node is away in the time that they take', async () => {
    const sink = await openSink()
    await servers[2].kill()
    await store(sink, batchOf([1], { identity: identity(1) })) // the others may miss it only after some seconds
    expect(await took(async () => {
      for (let i = 0; i < 10; i++) await store(sink, batchOf([i], { source: `new ${i}` }))
    })).to.be.below(95_000)
    await servers[2].start()
  })
})
