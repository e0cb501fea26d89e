import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { batchOf } from '../broker/pipeline.js'
import { until } from '../broker/waiting.js'
import { wired } from './member.js'
import { KafkaInUnderTest, numbers, rows } from './under-test.js'

const PROCESS = fileURLToPath(new URL('process.js', import.meta.url))

describe('Kafka in', function () {
  this.timeout(60_000)
  const suite = KafkaInUnderTest.inSuite()
  const { kafka } = suite

  it('stores what is there, each record once, and goes on after a restart', async () => {
    await kafka.create(suite.topic)
    await suite.produce(rows(0, 100))
    const first = await suite.open()
    await until(() => suite.stored().length === 100)
    await suite.close(first)
    await suite.produce(rows(100, 150))
    await suite.open()
    await until(() => suite.stored().length >= 150)
    expect(suite.stored()).to.deep.equal(numbers(0, 150))
  })

  it('stores nothing twice when the group has forgotten how far it was', async () => {
    await kafka.create(suite.topic)
    for (let at = 0; at < 50; at += 5) await suite.produce(rows(at, at + 5))
    const first = await suite.open()
    await until(() => suite.stored().length === 50)
    await suite.close(first)
    suite.group += '-other'
    await suite.produce(rows(50, 60))
    const second = await suite.open()
    await until(() => suite.stored().length >= 60)
    expect(suite.stored()).to.deep.equal(numbers(0, 60))
    expect(second.consumer.state.duplicates).to.equal(10)
  })

  it('gives each of several sinks what it lacks', async () => {
    await kafka.create(suite.topic)
    await suite.produce(rows(0, 10))
    const first = await suite.open(['a', 'b'])
    await until(() => suite.stored('a').length === 10 && suite.stored('b').length === 10)
    first.consumer.wire([...wired(['a']), { ...wired(['b'])[0], isDisabled: true }])
    await suite.produce(rows(10, 20))
    await until(() => suite.stored('a').length === 20)
    first.consumer.wire(wired(['a', 'b']))
    await until(() => suite.stored('b').length === 20)
    expect([suite.stored('a'), suite.stored('b')]).to.deep.equal([numbers(0, 20), numbers(0, 20)])
  })

  it('reads several sources from one record batch, tombstones, and the blocks of a Kafka sink; what is broken is kept', async () => {
    await kafka.create(suite.topic)
    await suite.produce([
      { key: Buffer.from('press-1'), value: Buffer.from('{"value": 1}'), timestamp: 1_700_000_000_001n },
      { key: Buffer.from('press-2'), value: null },
      { key: Buffer.from('press-2'), value: Buffer.from('{"broken') },
      { key: Buffer.from([0xff]), value: Buffer.from('m,room=hall value=2 1700000000002000000') },
      { value: encode(batchOf(3, 'press')) }
    ])
    const member = await suite.open()
    await until(() => suite.stored().length === 3 && member.refused.length === 1)
    expect(suite.query('a', 'SELECT source, topic, value FROM rows ORDER BY value').map(row => ({ ...row }))).to.deep.equal([
      { source: suite.topic, topic: `${suite.topic}/press-1`, value: 1 },
      { source: 'm', topic: suite.topic, value: 2 },
      { source: 'press', topic: null, value: 3 }
    ])
    expect(member.refused).to.deep.equal(['{"broken'])
  })

  it('stores what was deleted and created again as something else', async () => {
    await kafka.create(suite.topic)
    await suite.produce(rows(0, 10))
    await suite.open()
    await until(() => suite.stored().length === 10)
    await kafka.remove(suite.topic)
    await kafka.create(suite.topic)
    await suite.produce(rows(10, 20))
    await until(() => suite.stored().length >= 20)
    expect(suite.stored()).to.deep.equal(numbers(0, 20))
  })

  it('counts what retention has removed, and goes on behind it', async () => {
    await kafka.create(suite.topic)
    await suite.produce(rows(0, 10))
    const first = await suite.open()
    await until(() => suite.stored().length === 10)
    await suite.close(first)
    for (const at of [10, 20]) await suite.produce(rows(at, at + 10))
    await kafka.deleteBefore(suite.topic, 20n)
    const member = await suite.open()
    await until(() => suite.stored().length >= 20)
    expect(suite.stored()).to.deep.equal([...numbers(0, 10), ...numbers(20, 30)])
    expect(member.consumer.state.lost).to.equal(10)
  })

  it('takes what compaction has left of a record batch for the same', async () => {
    await kafka.create(suite.topic, 1, { 'cleanup.policy': 'compact', 'segment.ms': '100', 'min.cleanable.dirty.ratio': '0' })
    const keyed = (/** @type {number} */ from, /** @type {number} */ to) => rows(from, to).map((value, i) => {
      return { key: Buffer.from(`k${i % 5}`), value: Buffer.from(value) }
    })
    await suite.produce(keyed(0, 20))
    const first = await suite.open()
    await until(() => suite.stored().length === 20)
    await suite.close(first)
    await suite.produce(keyed(20, 22))
    const left = async () => {
      const seen = kafka.reader({ topic: suite.topic })
      await until(() => seen.isRead)
      return seen.values.length
    }
    for (let at = 22; await left() >= at; at++) await suite.produce(keyed(at, at + 1)) // each may begin a segment
    const all = Number((await kafka.endOf(suite.topic)))
    suite.group += '-other'
    await suite.open()
    await until(() => suite.stored().includes(all - 1))
    expect(suite.stored().slice(0, 20)).to.deep.equal(numbers(0, 20))
    expect(new Set(suite.stored()).size).to.equal(suite.stored().length)
  })

  it('gives a database that was set back what it lacks', async () => {
    await kafka.create(suite.topic)
    for (const at of [0, 10, 20]) await suite.produce(rows(at, at + 10))
    const first = await suite.open()
    await until(() => suite.stored().length === 30)
    await kafka.committedAt(suite.group, suite.topic, 30n)
    await suite.close(first)
    suite.setBackTo(10)
    const member = await suite.open()
    await until(() => suite.stored().length >= 30)
    expect(suite.stored()).to.deep.equal(numbers(0, 30))
    expect(member.consumer.state.setBack).to.equal(1)
  })

  it('merges the commit records below what is dealt with, and knows by them what is stored', async () => {
    await kafka.create(suite.topic)
    for (let at = 0; at < 40; at += 4) await suite.produce(rows(at, at + 4))
    const first = await suite.open()
    const sink = await first.addSink('a', join(suite.folder, 'a'))
    await until(() => suite.stored().length === 40)
    const { records: [{ gateway, source, epoch }] } = await sink.committed()
    await sink.compact([{ gateway, source, epoch, first: 40, last: 40, sparseFrom: 0 }])
    const { records } = await sink.committed()
    expect(records.map(({ first: from, last, stored: its }) => [from, last, its])).to.deep.equal([[0, 36, 40]])
    await suite.close(first)
    suite.group += '-other'
    await suite.open()
    await suite.produce(rows(40, 44))
    await until(() => suite.stored().length >= 44)
    expect(suite.stored()).to.deep.equal(numbers(0, 44))
  })

  it('loses and doubles nothing while members are killed and others take over, again and again', async () => {
    await kafka.create(suite.topic, 4)
    const path = join(suite.folder, 'a')
    const begin = () => spawn(process.execPath, [PROCESS, String(kafka.server.port), suite.group, suite.topic, path], { stdio: 'ignore' })
    const running = [begin(), begin()]
    let produced = 0
    try {
      for (let kills = 0; kills < 6; kills++) {
        const before = suite.stored().length
        for (let i = 0; i < 20; i++) {
          await suite.produce(rows(produced, produced + 7), { partition: i % 4 })
          produced += 7
        }
        await until(() => suite.stored().length > before)
        running[kills % 2].kill('SIGKILL')
        running[kills % 2] = begin()
      }
      await until(() => suite.stored().length >= produced)
    } finally {
      for (const child of running) child.kill('SIGKILL')
    }
    expect(suite.stored()).to.deep.equal(numbers(0, produced))
  })

  it('is told of another gateway that reads under its identity, which has no other sign of it, while that one lives', async () => {
    await kafka.create(suite.topic, 4)
    const args = [PROCESS, String(kafka.server.port), suite.group, suite.topic, join(suite.folder, 'copy'), 'gw']
    const killed = spawn(process.execPath, args, { stdio: 'ignore' })
    const hasMember = async () => (await membersOf(suite.group)).length > 0
    while (!await hasMember()) await sleep(100)
    killed.kill('SIGKILL')
    const own = await suite.open(['a'], { own: 'gw' })
    const neighbour = await suite.open(['b'], { own: 'gw', reader: 'in too' })
    await until(() => own.consumer.state.partitions + neighbour.consumer.state.partitions === 4)
    const copy = spawn(process.execPath, args, { stdio: 'ignore' })
    try {
      while ((await membersOf(suite.group)).length < 3) await sleep(100)
      expect(own.consumer.state.clashes).to.equal(0)
      await until(() => own.consumer.state.clashes > 1)
      expect(own.logged.join()).to.include('SLUICE_BROKER_TAKEN_OVER: Another gateway has the id of this one, "gw"')
      expect(neighbour.consumer.state.clashes).to.equal(0)
    } finally {
      copy.kill('SIGKILL')
    }
  })

  /** @param {string} group */
  async function membersOf (group) {
    const groups = await kafka.admin.describeGroups({ groups: [group] })
    return [...groups.get(group)?.members.values() ?? []]
  }
})
