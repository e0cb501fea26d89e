import { formatTime } from '../../gateway/batch/time.js'
import { NAMESPACE } from '../../gateway/sparkplug/topic.js'

/** Of a value, in characters. */
const MAX_SHOWN = 200

/**
 * What a message becomes, as the form shows it: all of it text. Of Sparkplug B, whose messages mean nothing without their births, only the
 * pattern is tried.
 * @param {import('../../gateway/messages/mapping/try.js').Tried} tried
 * @param {{bytes?: number, payload: Buffer}} message  `bytes`: more than it holds where it is too long to be kept
 * @returns {import('../../resources/topic-row.js').Row}
 */
export function shownRow ({ topic, mapping, source, tags, time, fields, more, refused }, { bytes = 0, payload }) {
  if (topic.startsWith(`${NAMESPACE}/`)) return { topic, mapping, isSparkplug: true, refused: [] }
  if (bytes > payload.length) return { topic, mapping, refused: [`It has ${bytes} bytes, too many to be tried.`] }
  return {
    topic,
    mapping,
    source: source ?? undefined,
    time: time === null ? undefined : formatTime(time),
    tags: Object.entries(tags).map(([name, value]) => [name, shown(value)]),
    fields: fields.map(([name, type, value]) => [name, type, shown(value)]),
    more,
    refused: refused.map(({ reason }) => reason)
  }
}

/** @param {unknown} value */
function shown (value) {
  const text = value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value)
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN - 1)}…` : text
}
