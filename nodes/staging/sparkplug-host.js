import { nowNs } from '../../gateway/clock/system-clock.js'
import { NAMESPACE, topicOf } from '../../gateway/sparkplug/topic.js'

/** @typedef {import('mqtt').MqttClient} MqttClient */

/** Whether Sparkplug's topics may be among those of a filter. @param {string} filter */
export function mayBeSparkplug (filter) {
  return [NAMESPACE, '#', '+'].includes(filter.replace(/^\$share\/[^/]*\//, '').split('/')[0])
}

/** @param {string} hostId @param {import('../../gateway/base/log.js').Log} log */
export async function openPresence (hostId, log) {
  const { HostPresence } = await import('../../gateway/sparkplug/presence.js')
  return new HostPresence(hostId, log)
}

/** The Sparkplug code is loaded only where it is used. */
export async function hostOpener () {
  const { SparkplugHost } = await import('../../gateway/sparkplug/host.js')
  const { encodeRebirthCommand } = await import('../../gateway/sparkplug/codec.js')
  return (/** @type {MqttClient} */ client) => new SparkplugHost({
    requestRebirth (groupId, nodeId) {
      client.publish(topicOf({ type: 'NCMD', groupId, nodeId }), encodeRebirthCommand(nowNs()))
    }
  })
}
