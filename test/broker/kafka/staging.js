import { Admin } from '@platformatic/kafka'
import { STAGE_TOPICS } from '../../../broker/kafka/topics.js'
import { missingKafka, startKafka } from '../../servers/kafka.js'
import { requireServer } from '../../servers/programs.js'

/** A Kafka for a suite that batches are staged in. */
export class KafkaStaging {
  /** @type {import('../../servers/kafka.js').KafkaServer} */
  server = /** @type {any} */ (null)

  /** Call it within `describe`. */
  static inSuite () {
    const staging = new KafkaStaging()
    before(async function () {
      this.timeout(300_000)
      requireServer(this, 'kafka', missingKafka())
      staging.server = await startKafka()
    })
    after(async function () {
      this.timeout(60_000)
      await staging.server?.remove()
    })
    return staging
  }

  /** What is staged goes, with all that the groups have committed. */
  async clear () {
    await this.use(async admin => {
      const names = Object.values(STAGE_TOPICS).map(({ name }) => name)
      const there = (await admin.listTopics()).filter(name => names.includes(name))
      if (there.length > 0) await admin.deleteTopics({ topics: there })
    })
  }

  /** @template T @param {(admin: Admin) => Promise<T>} work @returns {Promise<T>} */
  async use (work) {
    const admin = new Admin({ clientId: 'test', bootstrapBrokers: [`127.0.0.1:${this.server.port}`] })
    try {
      return await work(admin)
    } finally {
      await admin.close()
    }
  }
}
