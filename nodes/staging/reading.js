import { SluiceError } from '../../gateway/base/errors.js'
import { headlineOf } from '../../gateway/base/headlines.js'
import { deliveries } from '../../gateway/flow/deliveries.js'
import { quantity } from '../../gateway/stats/format.js'
import { counted, sentence } from '../status.js'

/**
 * What *stage in* and *Kafka in* have in common: both read for the sinks behind them.
 *
 * @typedef {import('../status.js').Status} Status
 */

/** @param {string} fix */
export function noSinks (fix) {
  return new SluiceError('SLUICE_STAGE_IN_SINKS', 'No sink is wired behind this node, so nothing is received.', { fix })
}

/** @param {{quietMs: number, settledByFlow: boolean}} options @returns {import('../../broker/in/contract.js').Deliveries} */
export function deliveriesOf ({ quietMs, settledByFlow }) {
  return {
    open: delivery => deliveries.open({ ...delivery, quietMs, settledByFlow }),
    close: id => deliveries.close(id)
  }
}

/** @param {import('../node.js').Node} node @returns {(delivery: import('../../broker/in/contract.js').Delivery) => void} */
export function emitting (node) {
  return ({ attemptId, batch }) => node.send({ topic: batch.source, payload: batch, delivery: attemptId })
}

/**
 * Has a meter go on counting where the consumers of earlier deploys have ended.
 * @param {import('../../gateway/stats/meter.js').Meter} meter
 * @param {() => {emittedAgain: number, parked: number, lost?: number}} read  what this consumer has counted
 * @returns {() => void} counts what there is now
 */
export function countingOn (meter, read) {
  const { overdue: overdueBefore, parked: parkedBefore, lost: lostBefore } = meter
  return () => {
    const { emittedAgain, parked, lost = 0 } = read()
    meter.overdue = overdueBefore + emittedAgain
    meter.parked = parkedBefore + parked
    meter.lost = lostBefore + lost
  }
}

/**
 * What such a node shows.
 * @param {{sinks: number, waitingFor: string[], held: number, setBack: number, duplicates: number}} state
 * @param {object} its
 * @param {Record<string, number>} its.losses  that are told, and bad
 * @param {Status|null} its.broken  what keeps all of it from going on
 * @param {Status|null} its.waiting  why less comes than should
 * @returns {Status}
 */
export function readingStatus ({ sinks, waitingFor, held, setBack, duplicates }, { losses, broken, waiting }) {
  const notes = counted({ ...losses, 'set back': setBack, 'duplicates refused': duplicates })
  const told = (/** @type {Status} */ { text = '', ...status }) => ({ ...status, text: sentence(text, ...notes) })
  if (sinks === 0) return told({ fill: 'red', shape: 'ring', text: headlineOf(noSinks('')) })
  if (broken) return told(broken)
  if (waitingFor.length > 0) return told({ fill: 'yellow', shape: 'ring', text: `waiting for ${waitingFor.toSorted().join(', ')}` })
  if (waiting) return told(waiting)
  const isBad = Object.values(losses).some(count => count > 0)
  return told({ fill: isBad ? 'red' : 'green', shape: 'dot', text: `${quantity(held)} in flight` })
}
