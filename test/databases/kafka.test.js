import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { topicName } from '../../gateway/databases/kafka/dialect.js'
import { isTransient } from '../../gateway/databases/kafka/sink.js'
import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { withClockAhead } from '../kafka/wrong-clock.js'
import { consumed } from '../servers/kafka-consumer.js'
import { ALL_NEW, batchOf, failureOf, identity, rangesOf, rowOf, T0, withLongTexts } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { restoreTest } from './contract/restore.js'
import { writerContract } from './contract/writer.js'
import { KafkaDatabase } from './kafka-database.js'

/** A record has the columns of its batch. */
const DIFFERS = { 'can be prepared by several at once': 'there are no columns to prepare: "have the columns of their batch each"' }

/** Of the key "press/a" in a topic of five, by `org.apache.kafka.common.utils.Utils.murmur2`. */
const JAVA_PARTITION = 3

describe('Kafka sink', () => {
  const database = KafkaDatabase.inSuite()
  const { openSink, rows, topics, committed, setBack } = database

  // First: they stop the server, which starts the more slowly the more topics there are.
  restoreTest({ openSink, isTransient, rows, database })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    async poison (batches, isPoison) {
      const sink = await openSink({ table: 'poisoned' })
      await sink.prepare(batches)
      return withLongTexts(batches, isPoison, 2 ** 20)
    },
    server: { stop: () => database.server.stop(), start: () => database.server.start() },
    wrong: [
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ },
      { what: 'a server that has no TLS', options: { tls: 'require' }, tells: /whether the brokers expect TLS/ },
      { what: 'a certificate that is missing', options: { tls: 'verify', ca: '/no/such.pem' }, tells: /no\/such\.pem/ }
    ]
  })

  for (const format of ['arrow', 'json']) {
    describe(format, () => {
      sinkContract({
        open: (options = {}) => openSink({ format, ...options }),
        isTransient,
        rows,
        tables: async () => (await topics()).filter(name => name !== 'sluice_commits'),
        setBack,
        drop: async table => { await database.admin.deleteTopics({ topics: [table] }) },
        guarantee: 'transaction',
        hasColumns: false,
        layouts: ['narrow'],
        nan: NaN,
        ignoresCase: false,
        differs: DIFFERS
      })
    })
  }

  describe('records', () => {
    it('have the columns of their batch each', async () => {
      const sinks = await Promise.all([1, 2].map(() => openSink({ format: 'json' })))
      await Promise.all(sinks.map((each, i) => each.write([rowOf({ common: ['float64', 1], [`own${i}`]: ['float64', i] })])))
      const values = (await committed('press')).map(({ value }) => Object.keys(JSON.parse(String(value))).sort())
      expect(values).to.have.deep.members([['common', 'own0', 'time'], ['common', 'own1', 'time']])
    })

    it('of JSON are what other programs read', async () => {
      const sink = await openSink({ format: 'json', table: 'all' })
      const tags = { line: '7', device: { values: ['a', 'b'], valid: Uint8Array.of(1, 0) } }
      await sink.write([new Batch({
        source: 'press',
        tags,
        time: BigInt64Array.of(T0, T0 + 1n),
        fields: [
          { name: 'force', type: 'float64', unit: 'N' }, { name: 'count', type: 'int64' }, { name: 'on', type: 'bool' },
          { name: 'raw', type: 'bytes' }
        ],
        columns: [
          Float64Array.of(0.1, Infinity), BigInt64Array.of(2n ** 63n - 1n, 1n), Uint8Array.of(1, 0), [Buffer.of(1, 255), Buffer.alloc(0)]
        ],
        validity: [null, null, Uint8Array.of(1, 0), null]
      })])
      expect((await committed('all')).map(({ key, value, headers }) => [key, String(value), headers.length])).to.deep.equal([
        ['press', '{"time":"2023-11-14T22:13:20.123456789Z","source":"press","line":"7","device":"a","force":0.1,' +
        '"count":9223372036854775807,"on":true,"raw":"Af8="}', 0],
        ['press', '{"time":"2023-11-14T22:13:20.123456790Z","source":"press","line":"7","force":"Infinity","count":1,"raw":""}', 0]
      ])
    })

    it('of Arrow are batches as they were staged, with their identity, or parts of them, without', async () => {
      const sink = await openSink()
      const [small, large] = [3, 25_000].map((length, seq) => batchOf(Array.from({ length }, (_, i) => i), { identity: identity(seq) }))
      await sink.write([small, large])
      const found = await committed('press')
      const blocks = found.map(({ value }) => decode(/** @type {Buffer} */ (value)))
      expect(blocks.map(({ rows: count, identity: its }) => [count, its?.seq])).to.deep.equal([
        [3, 0], [10_000, undefined], [10_000, undefined], [5000, undefined]
      ])
      expect(found[0].headers.map(String)).to.deep.equal(['content-type,application/vnd.apache.arrow.stream'])
    })

    it('are cut to fit what the topic accepts', async () => {
      await database.admin.createTopics({
        topics: ['press'], partitions: 1, replicas: 1, configs: [{ name: 'max.message.bytes', value: '20000' }]
      })
      const values = Array.from({ length: 10_000 }, (_, i) => i)
      for (const format of ['arrow', 'json']) {
        await (await openSink({ format, writer: format })).write([batchOf(values, { identity: { ...identity(0), epoch: format } })])
      }
      expect((await rows('press')).map(({ force }) => force).sort((a, b) => a - b)).to.deep.equal(values.flatMap(value => [value, value]))
      expect(Math.max(...(await committed('press')).map(({ value }) => Number(value?.length)))).to.be.within(10_000, 20_000)
    })

    it('are stored while the clock of the gateway is ahead of that of the brokers', async () => {
      const sink = await openSink()
      for (const seq of [0, 1]) {
        expect(await withClockAhead(() => sink.write([batchOf([seq], { identity: identity(seq) })]))).to.deep.equal(ALL_NEW)
      }
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal([0, 1])
    })

    it('are refused, and no others, of a source whose topic differs from another only by a point', async () => {
      const sink = await openSink({ format: 'json' })
      await sink.write([batchOf([1], { source: 'press.1' })])
      const error = await failureOf(() => sink.write([batchOf([2], { source: 'press_1' })]))
      expect(isTransient(error)).to.equal(false)
      expect(error).to.include({ code: 'SLUICE_SINK_IDENTIFIER', fix: 'Rename the source, or set another topic.' })
      expect(error.message).to.include('Kafka cannot have the topic "press_1": Topic \'press_1\' collides with existing topic: press.1.')
      await sink.write([batchOf([3], { source: 'press.1' })])
      expect(await rows('press.1')).to.have.length(2)
    })

    it('are cut to fit what the topic accepts by now', async () => {
      const sink = await openSink()
      const batch = (/** @type {number} */ seq) => batchOf(Array.from({ length: 5000 }, (_, i) => i), { identity: identity(seq) })
      await sink.write([batch(0)])
      await database.admin.incrementalAlterConfigs({
        resources: [
          { resourceType: 2, resourceName: 'press', configs: [{ name: 'max.message.bytes', configOperation: 0, value: '20000' }] }
        ]
      })
      let seq = 0
      /** @type {any} */
      let refused = null
      while (!refused) refused = await sink.write([batch(++seq)]).then(() => null, error => error) // a broker heeds it a little later
      expect([refused.code, isTransient(refused)], refused.message).to.deep.equal(['SLUICE_SINK_KAFKA', true])
      expect(await sink.write([batch(seq)])).to.deep.equal(ALL_NEW)
      expect(await rows('press')).to.have.length(5000 * (seq + 1))
    })

    it('of a key are in one partition, in the order of their rows', async () => {
      const device = { values: ['a', 'b', 'a', 'c', ''], valid: Uint8Array.of(1, 1, 1, 1, 0) }
      for (const format of ['arrow', 'json']) {
        const sink = await openSink({ format, table: format, keyTag: 'device', partitions: 5 })
        await sink.write([batchOf([1, 2, 3, 4, 5], { tags: { device } }), batchOf([6], { tags: { device: 'a' } }), batchOf([7])])
        const found = await committed(format)
        const perKey = Map.groupBy(found, ({ key }) => key)
        expect([...perKey.keys()]).to.have.members(['press/a', 'press/b', 'press/c', 'press'])
        for (const its of perKey.values()) expect(new Set(its.map(({ partition }) => partition)).size).to.equal(1)
        // As Java's clients place them.
        expect(perKey.get('press/a')?.[0].partition).to.equal(JAVA_PARTITION)
      }
      const ofA = (await committed('json')).filter(({ key }) => key === 'press/a').map(({ value }) => JSON.parse(String(value)).force)
      expect(ofA).to.deep.equal([1, 3, 6])
    })

    for (const compression of ['gzip', 'snappy', 'lz4', 'zstd']) {
      it(`are compressed as is set: ${compression}`, async () => {
        const sink = await openSink({ compression })
        await sink.write([batchOf([1, 2], { identity: identity(0) })])
        await sink.close()
        expect((await rows('press')).map(({ force }) => force)).to.deep.equal([1, 2])
        expect(rangesOf(await (await openSink({ compression })).committed())[0].ranges).to.deep.equal([[0, 0]])
      })
    }
  })

  describe('transactions', () => {
    it('of an earlier opening are ended by a later one, and what they had stored is known to it', async () => {
      const [old, batch] = [await openSink(), batchOf([1], { identity: identity(0) })]
      await old.write([batch])
      const later = await openSink()
      expect((await later.write([batch])).duplicates).to.deep.equal([batch])
      expect(await later.write([batchOf([2], { identity: identity(1) })])).to.deep.equal(ALL_NEW)
      // It is fenced, opens again, and knows what the other has stored.
      expect((await old.write([batchOf([2], { identity: identity(1) })])).duplicates).to.have.length(1)
      expect((await rows('press')).map(({ force }) => force)).to.have.members([1, 2])
    })

    it('of different writers do not disturb each other', async () => {
      const sinks = await Promise.all(['a', 'b', 'c'].map(writer => openSink({ writer })))
      await Promise.all(sinks.map(async (sink, i) => {
        for (let seq = 0; seq < 20; seq++) {
          await sink.write([batchOf([100 * i + seq], { identity: { ...identity(seq), gateway: `gateway ${i}` } })])
        }
      }))
      expect(await rows('press')).to.have.length(60)
      expect(rangesOf(await sinks[0].committed()).map(({ gateway, ranges }) => [gateway, ranges])).to.deep.equal(
        [0, 1, 2].map(i => [`gateway ${i}`, [[0, 19]]]))
    })

    it('of different writers merge the records of their own alone, and know what the others have stored', async () => {
      const [a, b] = await Promise.all(['a', 'b'].map(writer => openSink({ writer })))
      const batches = [0, 1, 2, 3, 4, 5].map(seq => batchOf([seq], { identity: identity(seq) }))
      for (const batch of batches) await (batch.identity?.seq === 3 ? b : a).write([batch])
      await Promise.all([a.compact([]), b.compact([])])
      const kept = new Map((await committed('sluice_commits')).map(({ key, value }) => [key, value]))
      const left = [...kept].filter(([, value]) => value?.length)
      const named = left.map(([key, value]) => [...JSON.parse(key).slice(4), JSON.parse(String(value)).last])
      expect(named).to.have.deep.members([[0, 'a', 2], [3, 'b', 3], [4, 'a', 5]])
      for (const sink of [a, b, await openSink({ writer: 'c' })]) expect((await sink.write(batches)).duplicates).to.deep.equal(batches)
    })

    it('have all that was asked for while another was under way, and each is told of its own', async () => {
      const sink = await openSink()
      const batches = Array.from({ length: 30 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
      await sink.write([batches[0]])
      const tooLarge = rowOf({ text: ['string', 'x'.repeat(2 ** 20)] }, { identity: identity(99) })
      const before = (await committed('sluice_commits')).length
      const writes = [...batches, ...batches, tooLarge].map(batch => sink.write([batch]).catch(error => error))
      const results = await Promise.all(writes)
      expect(results.pop()).to.have.property('code', 'SLUICE_SINK_KAFKA_ROW')
      expect(results.map(({ duplicates }) => duplicates.length)).to.deep.equal([1, ...Array(29).fill(0), ...Array(30).fill(1)])
      expect(await rows('press')).to.have.length(30)
      expect((await committed('sluice_commits')).length - before).to.equal(29)
    })

    it('are not begun where commit records would be removed', async () => {
      await database.admin.createTopics({ topics: ['sluice_commits'], partitions: 1, replicas: 1 })
      const error = await failureOf(async () => (await openSink()).write([batchOf([1], { identity: identity(0) })]))
      expect([error.code, error.fix, isTransient(error)]).to.deep.equal([
        'SLUICE_SINK_KAFKA', 'Set its cleanup.policy to compact.', true
      ])
      expect(await database.connect().test()).to.match(/sluice_commits is not compacted: set its cleanup.policy/)
    })

    it('are all that a consumer of Kafka itself sees, of what is committed', async () => {
      const sink = await openSink({ format: 'json' })
      await sink.write([batchOf([1], { identity: identity(0) })])
      await sink.write([batchOf([2], { identity: identity(1) })], { probe: true })
      await sink.write([batchOf([3], { identity: identity(2) })])
      const lines = []
      for await (const line of consumed(database.server.port, 'press', 2)) lines.push(line)
      expect(lines.map(line => JSON.parse(line).force)).to.deep.equal([1, 3])
    })

    it('that hold other records up are waited for', async () => {
      await (await openSink()).write([batchOf([1], { identity: identity(0) })])
      await database.reader.produce([{ topic: 'sluice_commits', key: Buffer.from('what is none of ours'), value: Buffer.from('either') }])
      expect(rangesOf(await (await openSink()).committed())[0].ranges).to.deep.equal([[0, 0]])
    })
  })

  it('gives different sources topics that Kafka can have', () => {
    const sources = ['press 1', 'press_1', 'press_x20_1', 'Press', 'Süd/7', '.', '..', 'a.b', 'x'.repeat(300), 'x'.repeat(301)]
    const names = sources.map(topicName)
    for (const name of names) expect(name).to.match(/^[\w.-]{1,249}$/).and.not.match(/^\.+$/)
    expect(new Set(names).size).to.equal(sources.length)
    expect(names.slice(0, 2)).to.deep.equal(['press_x20_1', 'press_1'])
  })

  describe('Test connection', () => {
    it('tells what it found, and what a sink will do', async () => {
      expect(await database.connect().test()).to.match(/^Kafka cluster \S+, one broker\. .*sluice_commits does not exist: .* create it\./)
      await (await openSink()).committed()
      expect(await database.connect().test()).to.match(/^Kafka cluster \S+, one broker\. A single broker/)
    })

    it('says what to do where nothing answers', async () => {
      const error = await failureOf(() => database.connect({ port: 1 }).test())
      expect(error).to.include({ code: 'SLUICE_SINK_CONNECT' }).and.to.have.property('fix').that.matches(/Check host and port/)
    })
  })
})
