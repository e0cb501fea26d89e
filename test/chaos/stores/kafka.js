import { topicName } from '../../../gateway/databases/kafka/dialect.js'
import { COMMITS_TABLE } from '../../../gateway/databases/names.js'
import { consumed } from '../../servers/kafka-consumer.js'
import { jsonRow, KafkaReader } from '../../servers/kafka-reader.js'
import { keyWriter } from '../check/row-key.js'

/** @typedef {import('../check/check.js').Store} Store */

/**
 * Topics of JSON rows. They are counted by what their transactions have ended with, and read by Kafka's own consumer.
 * @implements {Store}
 */
export class KafkaStore {
  #port
  #reader

  /** @param {number} port */
  constructor (port) {
    this.#port = port
    this.#reader = new KafkaReader({ port })
  }

  async tables () {
    return (await this.#reader.topics()).filter(name => name !== COMMITS_TABLE).map(sourceOf)
  }

  /** @param {string} table */
  async count (table) {
    return (await this.#reader.committed(topicName(table))).length
  }

  /** @param {string} table */
  async * read (table) {
    for await (const line of consumed(this.#port, topicName(table), await this.count(table))) {
      const { time, ...values } = jsonRow(line)
      const names = Object.keys(values)
      yield keyWriter(names)(time, column => values[names[column]])
    }
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    if (!(await this.#reader.topics()).includes(COMMITS_TABLE)) return false
    return (await this.#reader.committed(COMMITS_TABLE)).some(({ key, value }) => {
      const [, , its, ofEpoch, first] = JSON.parse(key)
      return its === source && ofEpoch === epoch && first <= seq && value !== null && JSON.parse(String(value)).last >= seq
    })
  }

  async close () {
    await this.#reader.close()
  }
}

/** Of a topic that is named after one. @param {string} topic */
function sourceOf (topic) {
  return topic.replace(/_x([0-9a-f]+)_/g, (_, code) => String.fromCodePoint(parseInt(code, 16)))
}
