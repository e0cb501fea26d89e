/**
 * The topics of the staging protocol (docs/protocol.md), all below `sluice/v2/<writer>/`: the first level says who may write there.
 */
export const ROOT = 'sluice/v2'

/** A name as one topic level: what MQTT would read as structure, or brokers refuse, is percent-encoded. @param {string} name */
export function level (name) {
  return name.replace(/[%/+#\p{Cc}\p{Noncharacter_Code_Point}]/gu, encodeURIComponent)
}

/** A name in a filter; `+`, which is any name, stays. @param {string} name */
function levelOrAny (name) {
  return name === '+' ? name : level(name)
}

/** What a gateway writes. @param {string} gateway */
export function gatewayTopics (gateway) {
  const base = `${ROOT}/${level(gateway)}`
  return {
    data: (/** @type {string} */ source) => `${base}/data/${level(source)}`,
    head: (/** @type {string} */ spool) => `${base}/head/${level(spool)}`,
    /** A spool's word to itself: once it comes back, so has all that was retained. */
    echo: (/** @type {string} */ spool) => `${base}/echo/${level(spool)}`,
    resent: (/** @type {string} */ consumer, /** @type {string} */ reader) => `${base}/resent/${level(consumer)}/${level(reader)}`,
    preflight: (/** @type {string} */ id) => `${base}/preflight/${level(id)}`
  }
}

/** What a consumer writes: a gateway, or `group:<name>`. @param {string} consumer */
export function consumerTopics (consumer) {
  const base = `${ROOT}/${level(consumer)}`
  return {
    sinks: (/** @type {string} */ reader) => `${base}/sinks/${level(reader)}`,
    commit: (/** @type {string} */ sink, /** @type {string} */ gateway) => `${base}/commit/${level(sink)}/${level(gateway)}`,
    resend: (/** @type {string} */ reader, /** @type {string} */ gateway) => `${base}/resend/${level(reader)}/${level(gateway)}`
  }
}

/** What the two ends subscribe to; `+` for a gateway or source is any. */
export const filters = {
  /** Of all consumers. */
  sinks: `${ROOT}/+/sinks/+`,
  sinksOf: (/** @type {string} */ consumer) => `${ROOT}/${level(consumer)}/sinks/+`,
  /** Of all consumers, for one gateway. */
  commits: (/** @type {string} */ gateway) => `${ROOT}/+/commit/+/${level(gateway)}`,
  resends: (/** @type {string} */ gateway) => `${ROOT}/+/resend/+/${level(gateway)}`,
  data: (/** @type {string} */ gateway, /** @type {string} */ source) => `${ROOT}/${levelOrAny(gateway)}/data/${levelOrAny(source)}`,
  heads: (/** @type {string} */ gateway) => `${ROOT}/${levelOrAny(gateway)}/head/+`,
  resent: (/** @type {string} */ gateway, /** @type {string} */ consumer, /** @type {string} */ reader) =>
    `${ROOT}/${levelOrAny(gateway)}/resent/${level(consumer)}/${level(reader)}`
}

/**
 * @typedef {{kind: 'data', gateway: string, source: string}
 *   | {kind: 'head', gateway: string, spool: string}
 *   | {kind: 'echo', gateway: string, spool: string}
 *   | {kind: 'resent', gateway: string, consumer: string, reader: string}
 *   | {kind: 'sinks', consumer: string, reader: string}
 *   | {kind: 'commit', consumer: string, sink: string, gateway: string}
 *   | {kind: 'resend', consumer: string, reader: string, gateway: string}} TopicParts
 */

/** The names that the levels of each kind have, the writer's first. */
const LEVELS = {
  data: ['gateway', 'source'],
  head: ['gateway', 'spool'],
  echo: ['gateway', 'spool'],
  resent: ['gateway', 'consumer', 'reader'],
  sinks: ['consumer', 'reader'],
  commit: ['consumer', 'sink', 'gateway'],
  resend: ['consumer', 'reader', 'gateway']
}

/**
 * What a topic of the protocol is about, or null for any other one.
 * @param {string} topic
 * @returns {TopicParts|null}
 */
export function parseTopic (topic) {
  if (topic !== last.topic) last = { topic, parts: partsOf(topic) }
  return last.parts
}

/** Mostly one message after another has the same. @type {{topic: string, parts: TopicParts|null}} */
let last = { topic: '', parts: null }

/** @param {string} topic @returns {TopicParts|null} */
function partsOf (topic) {
  if (!topic.startsWith(`${ROOT}/`)) return null
  const [writer, kind, ...rest] = topic.slice(ROOT.length + 1).split('/', 6) // more levels than any has
  const names = Object.hasOwn(LEVELS, kind) ? LEVELS[/** @type {keyof typeof LEVELS} */ (kind)] : []
  const levels = [writer, ...rest]
  if (levels.length !== names.length || levels.includes('')) return null
  return /** @type {any} */ ({ kind, ...Object.fromEntries(names.map((name, i) => [name, unlevel(levels[i])])) })
}

/** @param {string} text */
export function unlevel (text) {
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
