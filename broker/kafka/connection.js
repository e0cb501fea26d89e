import { connect as server } from '../../gateway/databases/kafka/connection.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { reasonOf } from '../../gateway/kafka/client.js'
import { KafkaLink } from './link.js'

/**
 * @typedef {import('../../gateway/base/log.js').Log} Log
 * @typedef {import('../client.js').BrokerConnection} BrokerConnection
 *
 * @typedef {object} KafkaClientOptions
 * @property {string} clientId
 * @property {string} [group]  see KafkaLink
 * @property {number} [receiveMaximum]  batches that may come before the first of them is acknowledged
 * @property {(partitions: number[], all: number) => void} [onShare]
 * @property {() => void} [onDouble]
 * @property {Log} [log]
 */

/**
 * A client of a Kafka cluster that stages as one of an MQTT broker does.
 * @param {Record<string, unknown>} options  of the cluster, see gateway/databases/kafka/connection.schema.js
 * @param {KafkaClientOptions} clientOptions
 */
export function connectKafka (options, clientOptions) {
  return new KafkaConnection(options, clientOptions)
}

/** @implements {BrokerConnection} */
export class KafkaConnection {
  /** The message of the problem that the log has. @type {string|null} */
  #logged = null
  #link
  #log

  /** @param {Record<string, unknown>} options @param {KafkaClientOptions} clientOptions */
  constructor (options, { clientId, group, receiveMaximum, onShare, onDouble, log = { info () {}, warn () {}, error () {} } }) {
    const cluster = server(options)
    this.place = cluster.place
    this.#log = log
    /** @type {SluiceError|null} */
    this.problem = null
    const onProblem = (/** @type {unknown} */ problem) => this.#report(problem)
    this.#link = new KafkaLink(cluster, { clientId, group, window: receiveMaximum, onShare, onDouble, onProblem })
    this.client = /** @type {import('../client.js').BrokerClient} */ (this.#link)
    this.client.on('connect', () => {
      this.#logged = null
      log.info(`Connected to ${this.place}.`)
    })
  }

  /** @param {Parameters<BrokerConnection['receive']>[0]} onMessage */
  receive (onMessage) { this.#link.receive(onMessage) }

  /** Ends the connection for good. @param {{patienceMs?: number}} [options]  for what is published and not acknowledged */
  close ({ patienceMs = 2000 } = {}) { return this.#link.close(patienceMs) }

  /** @param {unknown} problem */
  #report (problem) {
    this.problem = problem === null || problem instanceof SluiceError ? problem : failure(problem, this.place)
    if (!this.problem || this.#logged === this.problem.message) return
    this.#logged = this.problem.message
    this.#log.warn(describe(this.problem))
  }
}

/** @param {unknown} error @param {string} place */
function failure (error, place) {
  return new SluiceError('SLUICE_BROKER_CONNECTION', `The connection to ${place} failed: ${describe(reasonOf(error))}.`, {
    cause: error, fix: 'It is tried again without end.'
  })
}
