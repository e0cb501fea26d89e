import { gatewayId } from '../../broker/gateway-id.js'
import { isOwnTopic } from '../../broker/kafka-in/topics.js'
import { dataDir } from '../node.js'
import { schema as kafkaIn } from '../staging/kafka-in.schema.js'
import { serveNames } from '../staging/seen.js'
import { listenBy } from '../staging/try-topics.js'
import { schema } from './kafka-server.schema.js'
import { defineServer } from './server-node.js'

const TYPE = 'sluice-kafka-server'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, TYPE, schema, 'kafka', async () => {
    const [{ connect }, gateway] = await Promise.all([import('../../broker/kafka/trial.js'), gatewayId(dataDir(RED))])
    return { connect: options => connect(options, gateway) } // batches may be staged there, too
  })
  listenBy(TYPE, {
    schema,
    topics: /** @type {any} */ (kafkaIn.properties.topics),
    listen: async (options, { topics }, more) => {
      const { listenToKafka } = await import('../../broker/listening/kafka.js')
      return listenToKafka(await serverOf(options), topics, more)
    }
  })
  serveNames(RED, TYPE, schema, async options => {
    const client = (await serverOf(options)).client()
    try {
      return [...(await client.topics(null)).keys()].filter(name => !isOwnTopic(name))
    } finally {
      await client.close()
    }
  })
}

/** @param {any} options */
async function serverOf (options) {
  const { connect } = await import('../../gateway/databases/kafka/connection.js')
  return connect(options)
}
