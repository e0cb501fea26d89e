import { mkdtemp, rm } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KafkaUnderTest } from '../kafka/kafka.js'
import { Member } from './member.js'

let count = 0

/** What reads from a Kafka into databases, for a suite: each test has a topic, a group and a folder of its own. */
export class KafkaInUnderTest {
  kafka = KafkaUnderTest.inSuite()
  topic = ''
  group = ''
  folder = ''
  /** @type {Member[]} */
  #members = []

  /** Call it within `describe`. */
  static inSuite () {
    const suite = new KafkaInUnderTest()
    beforeEach(async () => {
      suite.topic = `plant${++count}`
      suite.group = `group${count}`
      suite.#members = []
      suite.folder = await mkdtemp(join(tmpdir(), 'sluice-kafka-in-'))
    })
    afterEach(async () => {
      await Promise.all(suite.#members.map(member => member.close()))
      await rm(suite.folder, { recursive: true, force: true })
    })
    return suite
  }

  /** @param {string[]} [sinks] @param {object} [more] */
  async open (sinks = ['a'], more = {}) {
    const member = new Member({ cluster: this.kafka.cluster, group: this.group, topics: [this.topic], sinks, more })
    this.#members.push(member)
    for (const sink of sinks) await member.addSink(sink, join(this.folder, sink))
    return member
  }

  /** @param {Member} member */
  async close (member) {
    this.#members.splice(this.#members.indexOf(member), 1)
    await member.close()
  }

  /** @param {(string|number|object)[]} values @param {object} [options] */
  produce (values, options) { return this.kafka.produce(this.topic, values, options) }

  /** Values that a database has, in the order of time. @param {string} [sink] @returns {number[]} */
  stored (sink = 'a') { return this.query(sink, 'SELECT value FROM rows ORDER BY time').map(({ value }) => Number(value)) }

  /** @param {string} sink @param {string} sql @returns {Record<string, any>[]} */
  query (sink, sql) {
    const database = new DatabaseSync(join(this.folder, sink))
    try {
      return database.prepare(sql).all()
    } catch {
      return [] // there is no table yet
    } finally {
      database.close()
    }
  }

  /** Sets a database back to when it had nothing from an offset on. @param {number} offset @param {string} [sink] */
  setBackTo (offset, sink = 'a') {
    const database = new DatabaseSync(join(this.folder, sink))
    database.exec(`DELETE FROM rows WHERE value >= ${offset}; DELETE FROM sluice_commits WHERE seq >= ${offset}`)
    database.close()
  }

  /** Where the next members of the group begin, as an operator says. @param {bigint} offset */
  async resetOffset (offset) {
    const topics = [{ name: this.topic, partitionOffsets: [{ partition: 0, offset }] }]
    await this.kafka.admin.alterConsumerGroupOffsets({ groupId: this.group, topics })
  }
}

/** @param {number} from @param {number} to */
export function numbers (from, to) {
  return Array.from({ length: to - from }, (_, i) => from + i)
}

/** As texts in JSON. @param {number} from @param {number} to */
export function rows (from, to) {
  return numbers(from, to).map(value => JSON.stringify({ time: 1_700_000_000_000 + value, value }))
}
