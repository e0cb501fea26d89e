import { missingKafka } from '../../servers/kafka.js'
import { missingMosquitto } from '../../servers/mosquitto.js'
import { startStagingKafka } from './kafka.js'
import { startShippedMosquitto } from './mosquitto.js'

/**
 * @typedef {object} Broker  that runs
 * @property {object} node  the config node that is for it
 * @property {object} option  of the stage nodes, which choose it
 * @property {(kill: import('../plan.js').Kill) => Promise<void>} kill
 * @property {() => Promise<void>} start
 * @property {() => Promise<void>} stop
 *
 * @typedef {keyof typeof brokers} BrokerName
 */

/** What batches can be staged in. */
export const brokers = {
  mosquitto: { title: 'Mosquitto', missing: missingMosquitto, start: startShippedMosquitto },
  kafka: { title: 'Kafka', missing: missingKafka, start: startStagingKafka }
}
