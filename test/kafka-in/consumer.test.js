import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { batchOf } from '../broker/pipeline.js'
import { until } from '../broker/waiting.js'
import { KafkaUnderTest } from '../kafka/kafka.js'
import { Member, wired } from './member.js'

const PROCESS = fileURLToPath(new URL('process.js', import.meta.url))

describe('Kafka in', function () {
  this.timeout(60_000)
  const kafka = KafkaUnderTest.inSuite()
  let count = 0
  /** @type {string} */
  let topic
  /** @type {string} */
  let group
  /** @type {string} */
  let folder
  /** @type {Member[]} */
  let members

  beforeEach(async () => {
    topic = `plant${++count}`
    group = `group${count}`
    members = []
    folder = await mkdtemp(join(tmpdir(), 'sluice-kafka-in-'))
  })

  afterEach(async () => {
    await Promise.all(members.map(member => member.close()))
    await rm(folder, { recursive: true, force: true })
  })

  /** @param {string[]} [sinks] @param {object} [more] */
  const open = async (sinks = ['a'], more = {}) => {
    const member = new Member({ cluster: kafka.cluster, group, topics: [topic], sinks, more })
    members.push(member)
    for (const sink of sinks) await member.addSink(sink, join(folder, sink))
    return member
  }

  /** @param {Member} member */
  const close = async member => {
    members.splice(members.indexOf(member), 1)
    await member.close()
  }

  /** Values that a database has, in the order of time. @param {string} [sink] @returns {number[]} */
  const stored = (sink = 'a') => query(sink, 'SELECT value FROM rows ORDER BY time').map(({ value }) => Number(value))

  /** @param {string} sink @param {string} sql @returns {Record<string, any>[]} */
  const query = (sink, sql) => {
    const database = new DatabaseSync(join(folder, sink))
    try {
      return database.prepare(sql).all()
    } catch {
      return [] // there is no table yet
    } finally {
      database.close()
    }
  }

  /** @param {number} from @param {number} to */
  const numbers = (from, to) => Array.from({ length: to - from }, (_, i) => from + i)
  const rows = (/** @type {number} */ from, /** @type {number} */ to) => {
    return numbers(from, to).map(value => JSON.stringify({ time: 1_700_000_000_000 + value, value }))
  }

  it('stores what is there, each record once, and goes on after a restart', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, rows(0, 100))
    const first = await open()
    await until(() => stored().length === 100)
    await close(first)
    await kafka.produce(topic, rows(100, 150))
    await open()
    await until(() => stored().length >= 150)
    expect(stored()).to.deep.equal(numbers(0, 150))
  })

  it('stores nothing twice when the group has forgotten how far it was', async () => {
    await kafka.create(topic)
    for (let at = 0; at < 50; at += 5) await kafka.produce(topic, rows(at, at + 5))
    const first = await open()
    await until(() => stored().length === 50)
    await close(first)
    group += '-other'
    await kafka.produce(topic, rows(50, 60))
    const second = await open()
    await until(() => stored().length >= 60)
    expect(stored()).to.deep.equal(numbers(0, 60))
    expect(second.consumer.state.duplicates).to.equal(10)
  })

  it('gives each of several sinks what it lacks', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, rows(0, 10))
    const first = await open(['a', 'b'])
    await until(() => stored('a').length === 10 && stored('b').length === 10)
    first.consumer.wire([...wired(['a']), { ...wired(['b'])[0], isDisabled: true }])
    await kafka.produce(topic, rows(10, 20))
    await until(() => stored('a').length === 20)
    first.consumer.wire(wired(['a', 'b']))
    await until(() => stored('b').length === 20)
    expect([stored('a'), stored('b')]).to.deep.equal([numbers(0, 20), numbers(0, 20)])
  })

  it('reads several sources from one record batch, tombstones, and the blocks of a Kafka sink; what is broken is kept', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, [
      { key: Buffer.from('press-1'), value: Buffer.from('{"value": 1}'), timestamp: 1_700_000_000_001n },
      { key: Buffer.from('press-2'), value: null },
      { key: Buffer.from('press-2'), value: Buffer.from('{"broken') },
      { key: Buffer.from([0xff]), value: Buffer.from('m,room=hall value=2 1700000000002000000') },
      { value: encode(batchOf(3, 'press')) }
    ])
    const member = await open()
    await until(() => stored().length === 3 && member.refused.length === 1)
    expect(query('a', 'SELECT source, topic, value FROM rows ORDER BY value').map(row => ({ ...row }))).to.deep.equal([
      { source: topic, topic: `${topic}/press-1`, value: 1 },
      { source: 'm', topic, value: 2 },
      { source: 'press', topic: null, value: 3 }
    ])
    expect(member.refused).to.deep.equal(['{"broken'])
  })

  it('stores what was deleted and created again as something else', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, rows(0, 10))
    await open()
    await until(() => stored().length === 10)
    await kafka.remove(topic)
    await kafka.create(topic)
    await kafka.produce(topic, rows(10, 20))
    await until(() => stored().length >= 20)
    expect(stored()).to.deep.equal(numbers(0, 20))
  })

  it('counts what retention has removed, and goes on behind it', async () => {
    await kafka.create(topic)
    await kafka.produce(topic, rows(0, 10))
    const first = await open()
    await until(() => stored().length === 10)
    await close(first)
    for (const at of [10, 20]) await kafka.produce(topic, rows(at, at + 10))
    await kafka.deleteBefore(topic, 20n)
    const member = await open()
    await until(() => stored().length >= 20)
    expect(stored()).to.deep.equal([...numbers(0, 10), ...numbers(20, 30)])
    expect(member.consumer.state.lost).to.equal(10)
  })

  it('takes what compaction has left of a record batch for the same', async () => {
    await kafka.create(topic, 1, { 'cleanup.policy': 'compact', 'segment.ms': '100', 'min.cleanable.dirty.ratio': '0' })
    const keyed = (/** @type {number} */ from, /** @type {number} */ to) => rows(from, to).map((value, i) => {
      return { key: Buffer.from(`k${i % 5}`), value: Buffer.from(value) }
    })
    await kafka.produce(topic, keyed(0, 20))
    const first = await open()
    await until(() => stored().length === 20)
    await close(first)
    await kafka.produce(topic, keyed(20, 22))
    const left = async () => {
      const seen = kafka.reader({ topic })
      await until(() => seen.isRead)
      return seen.values.length
    }
    for (let at = 22; await left() >= at; at++) await kafka.produce(topic, keyed(at, at + 1)) // each may begin a segment
    const all = Number((await kafka.endOf(topic)))
    group += '-other'
    await open()
    await until(() => stored().includes(all - 1))
    expect(stored().slice(0, 20)).to.deep.equal(numbers(0, 20))
    expect(new Set(stored()).size).to.equal(stored().length)
  })

  it('gives a database that was set back what it lacks', async () => {
    await kafka.create(topic)
    for (const at of [0, 10, 20]) await kafka.produce(topic, rows(at, at + 10))
    const first = await open()
    await until(() => stored().length === 30)
    await kafka.committedAt(group, topic, 30n)
    await close(first)
    const database = new DatabaseSync(join(folder, 'a'))
    database.exec('DELETE FROM rows WHERE value >= 10; DELETE FROM sluice_commits WHERE seq >= 10')
    database.close()
    const member = await open()
    await until(() => stored().length >= 30)
    expect(stored()).to.deep.equal(numbers(0, 30))
    expect(member.consumer.state.setBack).to.equal(1)
  })

  it('merges the commit records below what is dealt with, and knows by them what is stored', async () => {
    await kafka.create(topic)
    for (let at = 0; at < 40; at += 4) await kafka.produce(topic, rows(at, at + 4))
    const first = await open()
    const sink = await first.addSink('a', join(folder, 'a'))
    await until(() => stored().length === 40)
    const { records: [{ gateway, source, epoch }] } = await sink.committed()
    await sink.compact([{ gateway, source, epoch, first: 40, last: 40, isSparse: true }])
    const { records } = await sink.committed()
    expect(records.map(({ first: from, last, stored: its }) => [from, last, its])).to.deep.equal([[0, 36, 40]])
    await close(first)
    group += '-other'
    await open()
    await kafka.produce(topic, rows(40, 44))
    await until(() => stored().length >= 44)
    expect(stored()).to.deep.equal(numbers(0, 44))
  })

  it('loses and doubles nothing while members are killed and others take over, again and again', async () => {
    await kafka.create(topic, 4)
    const path = join(folder, 'a')
    const begin = () => spawn(process.execPath, [PROCESS, String(kafka.server.port), group, topic, path], { stdio: 'ignore' })
    const running = [begin(), begin()]
    let produced = 0
    try {
      for (let kills = 0; kills < 6; kills++) {
        const before = stored().length
        for (let i = 0; i < 20; i++) {
          await kafka.produce(topic, rows(produced, produced + 7), { partition: i % 4 })
          produced += 7
        }
        await until(() => stored().length > before)
        running[kills % 2].kill('SIGKILL')
        running[kills % 2] = begin()
      }
      await until(() => stored().length >= produced)
    } finally {
      for (const child of running) child.kill('SIGKILL')
    }
    expect(stored()).to.deep.equal(numbers(0, produced))
  })
})
