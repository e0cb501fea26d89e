import { connect } from '../../broker/connection/connection.js'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { connected } from '../../broker/preflight/probing.js'
import { Pipeline } from './pipeline.js'

/**
 * For each test a broker, a pipeline over it, and an observer that hears and says what it likes: the ends of a pipeline do not show one
 * part of the protocol that makes good what another has lost.
 */
export function observed () {
  const rig = new Rig()
  beforeEach(() => rig.start())
  afterEach(() => rig.stop())
  return rig
}

class Rig {
  /** @type {Awaited<ReturnType<typeof startEmbeddedBroker>>} */
  broker = /** @type {any} */ (null)
  /** @type {{url: string, protocolVersion: '3.1.1'}} */
  address = { url: '', protocolVersion: '3.1.1' }
  pipeline = /** @type {Pipeline} */ (/** @type {unknown} */ (null))
  observer = /** @type {import('../../broker/connection/connection.js').Connection} */ (/** @type {unknown} */ (null))

  async start () {
    await this.#startBroker(0)
    this.pipeline = await Pipeline.create(this.address)
  }

  async stop () {
    await this.observer.close()
    await this.pipeline.close()
    await this.broker.close()
  }

  /** The broker starts again on its port, and has forgotten everything. */
  async restartBroker () {
    await this.observer.close()
    await this.broker.close()
    await this.#startBroker(this.broker.port)
  }

  /** Collects messages. @param {string} filter */
  async listen (filter) {
    /** @type {{topic: string, payload: Buffer}[]} */
    const heard = []
    this.observer.client.on('message', (topic, payload) => heard.push({ topic, payload }))
    await this.observer.client.subscribeAsync(filter, { qos: 1 })
    return heard
  }

  /** @param {string} topic @param {unknown} message @param {boolean} [retain] */
  tell (topic, message, retain = false) {
    return this.observer.client.publishAsync(topic, JSON.stringify(message), { qos: 1, retain })
  }

  /** @param {number} port */
  async #startBroker (port) {
    this.broker = await startEmbeddedBroker({ port })
    this.address.url = `mqtt://127.0.0.1:${this.broker.port}`
    this.observer = connect(this.address, { clientId: 'observer' })
    await connected(this.observer)
  }
}
