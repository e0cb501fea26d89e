import { isUtf8 } from 'node:buffer'
import { describe } from '../../base/errors.js'
import { nowNs } from '../../clock/system-clock.js'
import { MAX_BYTES, MAX_REFUSED, tooLarge } from '../bounds.js'
import { toBatches } from '../payload.js'
import { Refusals } from '../refusals.js'
import * as arrow from './arrow/arrow.js'
import * as json from './json.js'
import { decodeLines } from './line-protocol/decode.js'
import { contentTypes as senmlTypes } from './senml.js'
import { contentTypes as cborTypes, decodeSenmlCbor, mayBeSenmlCbor } from './senml-cbor.js'
import { decodeWarp10, mayBeWarp10 } from './warp10/decode.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {import('../../batch/time.js').TimeUnit} TimeUnit
 * @typedef {import('./json.js').Mapped} Mapped
 */

const BAD_TIME = 'its time is missing or not between 1970 and 2262'

/**
 * The batches in the payload of any MQTT message: Sluice's own, with their identity, or third-party ones. Bytes that begin as an Arrow
 * stream are one, whatever the content type, and so is SenML in CBOR; the rest is JSON (that of SenML, Neuron and Telegraf included) where
 * its content type says so or it begins like an object, an array or a text; Warp 10's text or line protocol where its first line is;
 * otherwise a bare number, true, false, or plain text: one row, field `value`.
 *
 * Never throws for what is in the bytes.
 * @param {Uint8Array} bytes
 * @param {object} [options]
 * @param {string} [options.source]  of messages that do not name theirs, for example from the topic
 * @param {string} [options.contentType]  of MQTT 5
 * @param {TimeUnit} [options.timeUnit]  of times that are numbers; default ms
 * @param {number} [options.maxBytes]  a longer message is refused
 * @param {() => bigint} [options.now]  called only for what has no time of its own
 * @param {Mapped} [options.mapped]  reads what has no names of its own
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function decodeMessage (bytes, { source, contentType, timeUnit, maxBytes = MAX_BYTES, now = nowNs, mapped } = {}) {
  if (bytes.length > maxBytes) return refusedWhole(describe(tooLarge(`it has ${bytes.length} bytes, over ${maxBytes}`)), bytes)
  if (bytes.length === 0) return refusedWhole('the message is empty')
  const type = contentType?.split(';')[0].trim().toLowerCase()
  if (arrow.recognises(bytes) || type === arrow.contentType) return decodeArrow(bytes, source)
  const isDeclared = cborTypes.includes(type ?? '')
  const pack = isDeclared || mayBeSenmlCbor(bytes) ? decodeSenmlCbor(bytes, { source, isDeclared, now }) : null
  if (pack) return pack
  if (!isUtf8(bytes)) return refusedWhole('the message is neither an Arrow stream nor text', bytes)
  const senml = senmlTypes.includes(type ?? '')
  if (senml || type === json.contentType || beginsLikeJson(bytes)) return json.decodeJson(bytes, { source, timeUnit, senml, now, mapped })
  if (mayBeWarp10(bytes)) return decodeWarp10(bytes, { source, now })
  const lines = decodeLines(bytes, { now })
  if (lines) return lines
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
  if (BARE_JSON.test(text)) return json.decodeJson(bytes, { source, timeUnit, now, mapped })
  return mapped ? mapped.convert({ payload: text }) : toBatches({ payload: text }, { source, timeUnit, now })
}

/** A number, true or false that is JSON. */
const BARE_JSON = /^\s*(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false)\s*$/

const JSON_STARTS = new Set(Buffer.from('[{"'))
/** White space, and what a byte order mark consists of. */
const SPACES = new Set(Buffer.from(' \t\r\n\ufeff'))

/** Like an object, array or text, as no plain text does. @param {Uint8Array} bytes */
function beginsLikeJson (bytes) {
  let at = 0
  while (SPACES.has(bytes[at])) at++
  return JSON_STARTS.has(bytes[at])
}

/** @param {Uint8Array} bytes @param {string|undefined} source */
function decodeArrow (bytes, source) {
  const refused = new Refusals()
  try {
    const batch = arrow.decode(bytes, { source, onRefused: (row, reason, value) => refused.add(row, reason, value) })
    return withoutBadTimes(batch, refused, bytes)
  } catch (error) {
    return refusedWhole(describe(error), bytes)
  }
}

/**
 * Refuses third-party rows without a time: a time series cannot hold them.
 * @param {Batch} batch @param {Refusals} refused  of it so far @param {Uint8Array} bytes
 */
function withoutBadTimes (batch, refused, bytes) {
  /** @type {number[]} */
  const good = []
  if (batch.identity || batch.time.every(time => time > 0n)) return { batches: [batch], refused: refused.list(bytes) }
  batch.time.forEach((time, index) => {
    if (time > 0n) good.push(index)
    else refused.add(index, BAD_TIME, refused.count < MAX_REFUSED ? batch.pick([index]).toObjects()[0] : undefined)
  })
  return { batches: good.length ? [batch.pick(good)] : [], refused: refused.list(bytes) }
}

/** @param {string} reason @param {Uint8Array} [value] @returns {{batches: Batch[], refused: Refused[]}} */
function refusedWhole (reason, value) {
  return { batches: [], refused: [{ index: -1, reason, value }] }
}
