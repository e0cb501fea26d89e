/**
 * The topics of the staging protocol, all below `sluice/v1/<gateway>/<source>/`:
 *
 *     data                a batch, QoS 1
 *     head                retained: per epoch the first and last seq the spool holds
 *     commit/<sink>       retained: the ranges the sink's database has stored; an empty message forgets the sink
 *     replay/<sink>       a sink asks for ranges it lacks
 *     replay/<sink>/data  the answer
 */
export const ROOT = 'sluice/v1'

/** A name as one topic level: what MQTT would read as structure is percent-encoded. @param {string} name */
export function level (name) {
  return name.replace(/[%/+#\p{Cc}]/gu, encodeURIComponent)
}

/**
 * @param {string} gateway
 * @param {string} source
 */
export function topicsOf (gateway, source) {
  const base = `${ROOT}/${level(gateway)}/${level(source)}`
  return {
    data: `${base}/data`,
    head: `${base}/head`,
    commits: `${base}/commit/+`,
    resends: `${base}/replay/+`,
    commit: (/** @type {string} */ sink) => `${base}/commit/${level(sink)}`,
    replay: (/** @type {string} */ sink) => `${base}/replay/${level(sink)}`,
    replayData: (/** @type {string} */ sink) => `${base}/replay/${level(sink)}/data`
  }
}

/**
 * @typedef {object} TopicParts
 * @property {string} gateway
 * @property {string} source
 * @property {'data'|'head'|'commit'|'replay'|'replayData'} kind
 * @property {string} [sink]
 */

/**
 * What a topic of the protocol is about, or null for a third-party one.
 * @param {string} topic
 * @returns {TopicParts|null}
 */
export function parseTopic (topic) {
  if (!topic.startsWith(`${ROOT}/`)) return null
  const [gateway, source, kind, sink, data, ...rest] = topic.slice(ROOT.length + 1).split('/').map(unlevel)
  if (rest.length > 0) return null
  if ((kind === 'data' || kind === 'head') && sink === undefined) return { gateway, source, kind }
  if ((kind === 'commit' || kind === 'replay') && sink && data === undefined) return { gateway, source, kind, sink }
  if (kind === 'replay' && sink && data === 'data') return { gateway, source, kind: 'replayData', sink }
  return null
}

/** @param {string} text */
function unlevel (text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Whether an MQTT subscription includes a topic; a wildcard at its beginning includes none of the broker's own.
 * @param {string} filter
 * @param {string} topic
 */
export function isForTopic (filter, topic) {
  const levels = topic.split('/')
  const wanted = filter.replace(/^\$share\/[^/]*\//, '').split('/')
  const end = wanted.indexOf('#')
  if (topic.startsWith('$') && wanted[0] !== levels[0]) return false
  return (end === -1 ? levels.length === wanted.length : levels.length >= end) &&
    wanted.slice(0, end === -1 ? undefined : end).every((want, i) => want === '+' || want === levels[i])
}
