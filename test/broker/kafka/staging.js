import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Admin } from '@platformatic/kafka'
import { STAGE_TOPICS } from '../../../broker/kafka/topics.js'
import { connect } from '../../../gateway/databases/kafka/connection.js'
import { isAnswer } from '../../../gateway/kafka/client.js'
import { missingKafka, startCluster } from '../../servers/kafka.js'
import { requireServer } from '../../servers/programs.js'

/** A Kafka for a suite that batches are staged in. */
export class KafkaStaging {
  /** @type {Awaited<ReturnType<typeof startCluster>>} */
  #cluster = /** @type {any} */ (null)

  /**
   * Call it within `describe`.
   * @param {import('../../servers/kafka.js').Setup & {brokers?: number}} [setup]
   */
  static inSuite ({ brokers = 1, ...setup } = {}) {
    const staging = new KafkaStaging()
    before(async function () {
      this.timeout(300_000)
      requireServer(this, 'kafka', missingKafka())
      staging.#cluster = await startCluster(brokers, setup)
    })
    after(async function () {
      this.timeout(60_000)
      await staging.#cluster?.remove()
    })
    return staging
  }

  get servers () { return this.#cluster.servers }

  /** The only one, or the first. */
  get server () { return this.servers[0] }

  /** Of a connection, as its form has them. */
  get options () {
    const { user, password, ca } = this.server
    return {
      host: this.servers.map(({ port }) => `127.0.0.1:${port}`).join(','),
      ...user && { login: 'scram-sha-512', user, password },
      ...ca && { tls: 'verify', ca }
    }
  }

  /** What is staged goes, with all that the groups have committed, and every broker that runs knows it. Topics may be there again. */
  async clear () {
    const names = Object.values(STAGE_TOPICS).map(({ name }) => name)
    const idsAt = async (/** @type {number} */ port) => {
      const client = connect({ ...this.options, host: '127.0.0.1', port }).client()
      const topics = await client.topics(names)
      await client.close()
      return [...topics.values()].map(({ id }) => id)
    }
    const ports = this.servers.filter(({ pid }) => pid !== undefined).map(({ port }) => port)
    const before = new Set((await Promise.all(ports.map(idsAt))).flat())
    await this.use(async admin => {
      for (const name of names) {
        await admin.deleteTopics({ topics: [name] })
          .catch(error => isAnswer(error, 'UNKNOWN_TOPIC_OR_PARTITION') ? null : Promise.reject(error))
      }
    })
    for (const port of ports) while ((await idsAt(port)).some(id => before.has(id))) await sleep(50)
  }

  /** @template T @param {(admin: Admin) => Promise<T>} work @returns {Promise<T>} */
  async use (work) {
    const { user: username, password, ca } = this.server
    const admin = new Admin({
      clientId: 'test',
      bootstrapBrokers: this.servers.map(({ port }) => `127.0.0.1:${port}`),
      ...username && { sasl: { mechanism: 'SCRAM-SHA-512', username, password } },
      ...ca && { tls: { ca: readFileSync(ca) } }
    })
    try {
      return await work(admin)
    } finally {
      await admin.close()
    }
  }
}
