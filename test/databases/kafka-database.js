import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { connect } from '../../gateway/databases/kafka/connection.js'
import { dialect, topicName } from '../../gateway/databases/kafka/dialect.js'
import { open } from '../../gateway/databases/kafka/sink.js'
import { constantOf, valuesOf, wideColumns } from '../../gateway/databases/wide.js'
import { jsonRow, KafkaReader } from '../servers/kafka-reader.js'
import { missingKafka, startKafka } from '../servers/kafka.js'
import { requireServer } from '../servers/programs.js'
import { plain, TestDatabase } from './test-database.js'

/** @typedef {import('../servers/kafka-reader.js').Found} Found */

/**
 * A Kafka for a suite, whose topics go after each test, and what is committed in it.
 * @extends {TestDatabase<import('../../gateway/databases/kafka/connection.js').KafkaServer>}
 */
export class KafkaDatabase extends TestDatabase {
  /** @type {import('../servers/kafka.js').KafkaServer} */
  server = /** @type {any} */ (null)
  /** @type {KafkaReader} */
  reader = /** @type {any} */ (null)

  /** Call it within `describe`. @param {object} [options]  of the server */
  static inSuite (options) {
    const database = new KafkaDatabase({ connect, open })
    before(async function () {
      this.timeout(120_000)
      requireServer(this, 'kafka', missingKafka())
      database.server = await startKafka(options)
      await database.reconnect()
    })
    afterEach(async () => {
      await database.closeOpened()
      await database.clear()
    })
    after(async function () {
      this.timeout(60_000)
      await database.reader?.close()
      await database.server?.remove()
    })
    return database
  }

  reconnect = async () => {
    await this.reader?.close()
    this.reader = new KafkaReader(this.server)
  }

  get admin () { return this.reader.admin }

  /** @override */
  get options () { return { port: this.server.port } }

  topics = () => this.reader.topics()

  /** @param {string} topic */
  committed = topic => this.reader.committed(topic)

  clear = () => this.reader.clear()

  /**
   * Topics as they were some time ago: created again, with what was in them of batches before this one.
   * @param {number} seq
   */
  setBack = async seq => {
    const kept = []
    for (const topic of await this.topics()) {
      const isKept = (/** @type {Found} */ { key, value }) => {
        if (topic === 'sluice_commits') return JSON.parse(key)[4] < seq
        return this.#rowsIn(/** @type {Buffer} */ (value), topic).every(({ force }) => force < seq)
      }
      const found = await this.committed(topic)
      await this.admin.deleteTopics({ topics: [topic] })
      await this.admin.createTopics({
        topics: [topic],
        partitions: 1,
        replicas: 1,
        configs: topic === 'sluice_commits' ? [{ name: 'cleanup.policy', value: 'compact' }] : []
      })
      kept.push(...found.filter(isKept).map(({ key, value }) => ({ topic, partition: 0, key: Buffer.from(key), value })))
    }
    await this.reader.produce(kept)
  }

  /** @param {Buffer} value @param {string} topic @returns {Record<string, any>[]} */
  #rowsIn (value, topic) {
    return value[0] === 0x7b ? [jsonRow(value)] : arrowRows(value, topic)
  }

  /** As the contract has them. @param {string} table @returns {Promise<Record<string, any>[]>} */
  rows = async table => {
    const topic = topicName(table)
    if (!(await this.topics()).includes(topic)) return []
    const values = (await this.committed(topic)).map(({ value }) => /** @type {Buffer} */ (value))
    const rows = values.flatMap(value => this.#rowsIn(value, topic))
    const names = [...new Set(rows.flatMap(Object.keys))]
    return rows.map(row => ({ ...Object.fromEntries(names.map(name => [name, null])), ...row })).sort((a, b) => Number(a.time - b.time))
  }
}

/** @param {Buffer} value @param {string} topic */
function arrowRows (value, topic) {
  const batch = decode(value)
  const columns = wideColumns(batch, dialect, topicName(batch.source) !== topic)
  return Array.from(batch.time, (time, row) => {
    const cells = columns.slice(1).map(column => [column.name, cellOf(column, batch, row)])
    return { time, ...Object.fromEntries(cells.filter(([, cell]) => cell !== undefined)) }
  })
}

/** @param {import('../../gateway/databases/wide.js').WideColumn} column @param {any} batch @param {number} row */
function cellOf (column, batch, row) {
  const constant = constantOf(column, batch)
  if (constant !== undefined) return constant
  const { values, valid } = valuesOf(column, batch)
  if (valid && valid[row] === 0) return undefined
  return plain(/** @type {any} */ (values)[row])
}
