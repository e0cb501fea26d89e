/**
 * Sparkplug's topics (specification 3.0, chapter 4): `spBv1.0/<group>/<type>/<node>[/<device>]`, and `spBv1.0/STATE/<host>` of host
 * applications.
 *
 * @typedef {'NBIRTH'|'NDEATH'|'NDATA'|'NCMD'} NodeMessage
 * @typedef {'DBIRTH'|'DDEATH'|'DDATA'|'DCMD'} DeviceMessage
 * @typedef {{type: NodeMessage|DeviceMessage, groupId: string, nodeId: string, deviceId?: string}} Topic  `deviceId` only with the types of
 *   devices
 * @typedef {{type: 'STATE', hostId: string}} StateTopic
 */

export const NAMESPACE = 'spBv1.0'

/** What a host subscribes to. */
export const ALL_TOPICS = `${NAMESPACE}/#`

const LEVELS = new Map(/** @type {[string, number][]} */ ([
  ...['NBIRTH', 'NDEATH', 'NDATA', 'NCMD'].map(type => [type, 4]),
  ...['DBIRTH', 'DDEATH', 'DDATA', 'DCMD'].map(type => [type, 5])
]))

/** @param {string} topic @returns {Topic|StateTopic|null} null where it is not one of Sparkplug's */
export function parseTopic (topic) {
  const levels = topic.split('/')
  if (levels[0] !== NAMESPACE || levels.includes('')) return null
  if (levels.length === 3) return levels[1] === 'STATE' ? { type: 'STATE', hostId: levels[2] } : null
  const [, groupId, type, nodeId, deviceId] = levels
  return LEVELS.get(type) === levels.length ? { type: /** @type {NodeMessage|DeviceMessage} */ (type), groupId, nodeId, deviceId } : null
}

/** @param {Topic} topic */
export function topicOf ({ type, groupId, nodeId, deviceId }) {
  return [NAMESPACE, groupId, type, nodeId, ...(deviceId === undefined ? [] : [deviceId])].join('/')
}

/** @param {string} hostId */
export function stateTopic (hostId) {
  return `${NAMESPACE}/STATE/${hostId}`
}

/** What a message on it says; null where it is not the state of a host. @param {Uint8Array} payload */
export function stateOf (payload) {
  try {
    const { online, timestamp } = JSON.parse(Buffer.from(payload).toString())
    return typeof online === 'boolean' && typeof timestamp === 'number' ? { online, timestamp } : null
  } catch {
    return null
  }
}
