import { connect as connectServer } from '../../gateway/databases/kafka/connection.js'
import { lookAtTopics, mayJoin } from './looking.js'
import { rightsFindings } from './preflight.js'

/**
 * A cluster to be tried, as the tests of connections want it: for sinks, and for staging.
 * @param {Record<string, unknown>} options
 * @param {string} gateway  that is to stage there
 */
export function connect (options, gateway) {
  const server = connectServer(options)
  const client = server.client()
  return {
    /** @param {{signal?: AbortSignal}} [context] @returns {Promise<string>} what is there */
    async test (context) {
      const found = await server.test(context)
      return `${found} ${await server.use(staging)}`
    },
    close: () => client.close()
  }

  async function staging () {
    const looked = await lookAtTopics(client)
    const lacking = rightsFindings(looked, await mayJoin(client, gateway))
    const [{ fix } = { fix: '' }] = lacking
    if (fix !== '') return `Batches cannot be staged here: ${lacking.map(({ text }) => text).join(' ')} ${fix}`
    const missing = looked.filter(({ isThere }) => !isThere).map(({ topic }) => topic.name)
    const topics = missing.length === 0 ? 'the topics are there' : `${missing.join(', ')} will be created`
    return `Batches can be staged here: ${topics}, and this user may read and write.`
  }
}
