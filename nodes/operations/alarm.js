import { limits as allLimits, watchAlarms } from '../../gateway/alarms/watch.js'
import { stats } from '../../gateway/stats/stats.js'
import { onFlows } from '../flow-events.js'
import { dataDir, defineNode, throttledStatus } from '../node.js'
import { counted, sentence } from '../status.js'
import { schema } from './alarm.schema.js'

/**
 * @typedef {import('../../gateway/stats/alarm.js').Alarm} Alarm
 * @typedef {import('../../gateway/stats/alarm.js').Change} Change
 */

/**
 * Sends a message for each change of an alarm. With this node's type come the alarms themselves, whether a flow has one or not.
 * @param {import('../node.js').RED} RED
 */
export default function (RED) {
  stats.alarms ??= watchAlarms(stats, dataDir(RED), text => RED.log.warn(text))
  const { alarms } = stats

  defineNode(RED, 'sluice-alarm', schema, (node, { level, kinds, atStart, limits }) => {
    const show = throttledStatus(node)
    const isMeant = (/** @type {Alarm} */ alarm) =>
      (level === 'warning' || alarm.level === 'problem') && (kinds.length === 0 || kinds.includes(alarm.kind))
    const send = (/** @type {Alarm} */ alarm, /** @type {Change} */ change) => {
      node.send({ topic: `sluice/alarm/${alarm.kind}`, payload: alarm, alarm: change })
    }
    const showAll = () => show(statusOf(alarms.active.filter(isMeant)))
    const forgetLimits = allLimits.add(limits)
    const stopListening = alarms.onChange((alarm, change) => {
      if (isMeant(alarm)) send(alarm, change)
      setImmediate(showAll) // once all that changes at once has
    })
    const stopWaiting = onFlows(RED, 'flows:started', () => { // before, what it is wired to may not be there
      stopWaiting()
      if (atStart) for (const alarm of alarms.active.filter(isMeant)) send(structuredClone(alarm), changeOf(alarm))
    })
    node.on('close', () => {
      stopWaiting()
      stopListening()
      forgetLimits()
    })
    showAll()
  })
}

/** The last one. @param {Alarm} alarm @returns {Change} */
function changeOf ({ acknowledgedMs }) { return acknowledgedMs === null ? 'raised' : 'acknowledged' }

/** @param {Alarm[]} active  problems first @returns {import('../node.js').Status} */
export function statusOf (active) {
  if (active.length === 0) return { fill: 'green', shape: 'dot', text: 'no alarms' }
  const [{ level, what }, ...others] = active
  return { fill: level === 'problem' ? 'red' : 'yellow', shape: 'dot', text: sentence(what, ...counted({ more: others.length })) }
}
