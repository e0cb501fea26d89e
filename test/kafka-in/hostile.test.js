import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../broker/waiting.js'
import { KafkaInUnderTest, numbers, rows } from './under-test.js'

/** Of the first record batch in a log. */
const VERSION_AT = 16

/** More than a record batch may have. */
const BOMB = Buffer.alloc(2 ** 27)

describe('What Kafka in cannot read', function () {
  this.timeout(120_000)
  const suite = KafkaInUnderTest.inSuite()
  const { kafka } = suite

  /** Flips a bit of a partition's log. @param {number} partition @param {(log: Buffer) => number} where */
  const damage = async (partition, where) => {
    const path = join(kafka.server.data, `${suite.topic}-${partition}`, '00000000000000000000.log')
    const log = await readFile(path)
    log[where(log)] ^= 1
    await writeFile(path, log)
  }

  for (const compression of ['gzip', 'lz4', 'zstd']) { // brokers themselves do not accept what snappy makes of it
    it(`keeps a record batch that ${compression} has made too much of, as it is, and goes on behind it`, async () => {
      await kafka.create(suite.topic, 1, { 'max.message.bytes': String(2 ** 24) })
      await suite.produce(rows(0, 10))
      await suite.produce([{ key: Buffer.from('k'), value: BOMB }], { compression })
      await suite.produce(rows(10, 20))
      const member = await suite.open()
      await until(() => suite.stored().length === 20)
      expect(member.reasons).to.have.length(1)
      expect(member.reasons[0]).to.match(/offset 10 of partition 0.*once they are decompressed/)
      expect(member.consumer.state.refused).to.equal(1)
      await kafka.committedAt(suite.group, suite.topic, 21n)
    })
  }

  it('keeps a record batch that a disk has damaged; where nobody knows what is behind one, it goes on elsewhere', async () => {
    await kafka.create(suite.topic, 3)
    for (const at of [0, 10, 20]) await suite.produce(rows(at, at + 10))
    await suite.produce(rows(30, 40), { partition: 1 })
    await kafka.server.stop()
    await damage(0, log => log.indexOf('"value":15'))
    await damage(1, () => VERSION_AT)
    await kafka.server.start()
    await suite.produce(rows(40, 50), { partition: 2 })
    const member = await suite.open()
    await until(() => suite.stored().length === 30 && member.consumer.problem !== null)
    expect(suite.stored()).to.deep.equal([...numbers(0, 10), ...numbers(20, 30), ...numbers(40, 50)])
    expect(member.reasons).to.have.length(1)
    expect(member.reasons[0]).to.match(/offset 10 of partition 0.*checksum/)
    expect(member.consumer.state.refused).to.equal(10)
    expect(member.consumer.problem?.message).to.match(/offset 0/)
  })

  it('stores records under the time that the broker has given them, where the topic says so', async () => {
    await kafka.create(suite.topic, 1, { 'message.timestamp.type': 'LogAppendTime' })
    const before = Date.now()
    await suite.produce([{ value: Buffer.from('{"value": 1}'), timestamp: 1_000n }])
    await suite.open()
    await until(() => suite.stored().length === 1)
    const [{ time }] = suite.query('a', 'SELECT CAST(time AS TEXT) AS time FROM rows')
    expect(new Date(/\D/.test(time) ? time : Number(BigInt(time) / 1_000_000n)).getTime()).to.be.at.least(before)
  })
})
