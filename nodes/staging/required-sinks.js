import { join } from 'node:path'
import { connected, within } from '../../broker/preflight/probing.js'
import { RequiredSinks } from '../../broker/out/required-sinks.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { consumerTopics } from '../../broker/topics.js'
import { describe } from '../../gateway/base/errors.js'
import { onFlows } from '../flow-events.js'
import { dataDir, logOf } from '../node.js'
import { namesOf } from '../names.js'
import { Shared } from '../shared.js'
import { connectTo } from './connection.js'
import { configsOf, hasReader, wiredSinks } from '../sinks/wired.js'

/** Lists of readers that are gone which are cleared in one run: who may write some may write many. */
const MAX_CLEARED = 100

/** @type {Map<string, Shared<Awaited<ReturnType<typeof open>>>>} by file */
const shared = new Map()
/** What those before have to clear, which no deploy waits for. @type {Map<string, Promise<void>>} by file */
const clearing = new Map()

/**
 * The sinks that all spools for one broker wait for, as the flows say at every deploy and the broker tells.
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {string} broker  id of its node
 */
export async function leaseRequiredSinks (RED, node, broker) {
  const path = join(dataDir(RED), 'required-sinks', `${encodeURIComponent(broker)}.json`)
  const one = shared.get(path) ?? new Shared(() => open(RED, path, broker, logOf(node)))
  shared.set(path, one)
  const { thing, release } = await one.lease()
  return { requiredSinks: thing.requiredSinks, release }
}

/**
 * @param {import('../node.js').RED} RED
 * @param {string} path
 * @param {string} broker
 * @param {import('../../gateway/base/log.js').Log} log
 */
async function open (RED, path, broker, log) {
  const gateway = await gatewayId(dataDir(RED))
  const own = `${gateway}.`
  /** @param {string} consumer @param {string} reader */
  const isGone = (consumer, reader) => {
    return reader.startsWith(own) && !hasReader(configsOf(RED), gateway, { id: reader.slice(own.length), consumer })
  }
  const requiredSinks = await RequiredSinks.open({ path, gateway, log, isGone })
  const connect = async (/** @type {string} */ clientId) => (await connectTo(RED, broker, { clientId })).connection
  const ghosts = new Ghosts(connect, `sluice-${gateway}-ghosts-${broker}`, log, clearing.get(path))
  requiredSinks.on('ghost', (consumer, reader) => ghosts.clear(consumerTopics(consumer).sinks(reader)))
  /** Stage ins that have heard a spool of it since the flows were started. @type {Set<string>} */
  const hearing = new Set()
  const wire = () => {
    const known = new Set(requiredSinks.wired.map(({ route }) => route))
    const isKnown = (/** @type {string} */ route) => known.has(route) || hearing.has(route.split(' ')[0])
    requiredSinks.wire(wiredSinks(configsOf(RED), gateway, broker, namesOf(RED), isKnown))
  }
  wire()
  const stopListening = onFlows(RED, 'flows:started', () => {
    hearing.clear()
    wire()
  })
  requiredSinks.on('readBy', reader => {
    if (hearing.has(reader)) return
    hearing.add(reader)
    wire()
  })
  return {
    requiredSinks,
    async close () {
      stopListening()
      clearing.set(path, ghosts.idle)
      await requiredSinks.close()
    }
  }
}

/**
 * Takes lists of readers that are gone from the broker, each once: else other gateways would wait for their sinks. Over a connection of its
 * own, which is all that a broker can end that does not let this gateway do so.
 */
class Ghosts {
  /** @type {Set<string>} */
  #topics = new Set()

  /**
   * @param {(clientId: string) => Promise<import('../../broker/client.js').BrokerConnection>} connect
   * @param {string} clientId
   * @param {import('../../gateway/base/log.js').Log} log
   * @param {Promise<void>} [idle]  resolves once nobody else has a connection under that id
   */
  constructor (connect, clientId, log, idle = Promise.resolve()) {
    this.connect = connect
    this.clientId = clientId
    this.log = log
    this.idle = idle
  }

  /** @param {string} topic */
  clear (topic) {
    if (this.#topics.has(topic) || this.#topics.size >= MAX_CLEARED) return
    this.#topics.add(topic)
    this.idle = this.idle.then(() => this.#clear(topic)).catch(error => {
      this.log.warn(`The list of a reader that is gone cannot be taken from the broker (${topic}): ${describe(error)}`)
    })
  }

  /** @param {string} topic */
  async #clear (topic) {
    const connection = await this.connect(this.clientId)
    try {
      await connected(connection)
      await within(new Promise((resolve, reject) => {
        connection.client.publish(topic, '', { qos: 1, retain: true }, error => error ? reject(error) : resolve(undefined))
      }))
    } finally {
      await connection.close({ patienceMs: 0 })
    }
  }
}
