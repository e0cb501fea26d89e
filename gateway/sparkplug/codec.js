import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { SluiceError } from '../base/errors.js'
import { decompress, isCompressed, unreadable } from './compression.js'
import { PayloadSchema } from './sparkplug_b_pb.js'
import { checkWire } from './wire-bounds.js'

/**
 * Payloads as bytes: Google Protocol Buffers, by the code that tools/generate-sparkplug.js generates from sparkplug_b.proto. 64-bit values
 * are bigints.
 *
 * @typedef {import('./sparkplug_b_pb.js').Payload} Payload
 * @typedef {import('./sparkplug_b_pb.js').Payload_Metric} Metric
 * @typedef {import('@bufbuild/protobuf').MessageInitShape<typeof PayloadSchema>} PayloadInit  with `timestamp` in ms since 1970
 * @typedef {import('@bufbuild/protobuf').MessageInitShape<typeof import('./sparkplug_b_pb.js').Payload_MetricSchema>} MetricInit
 */

export const REBIRTH = 'Node Control/Rebirth'
export const BD_SEQ = 'bdSeq'

const NS_PER_MS = 1_000_000n
const INT32 = 3
const BOOLEAN = 11
const STRING = 12

/** Of the property `Quality` (specification 3.0, chapter 6.4). */
const QUALITIES = new Map([[0, 'bad'], [500, 'stale']])
const BAD = 0

/** @param {PayloadInit} payload @returns {Buffer} */
export function encodePayload (payload) {
  const bytes = toBinary(PayloadSchema, create(PayloadSchema, payload))
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** @param {Uint8Array} bytes @returns {Payload} @throws {SluiceError} SLUICE_SPARKPLUG, SLUICE_MESSAGE_TOO_LARGE */
export function decodePayload (bytes) {
  const payload = decodePlain(bytes)
  if (!isCompressed(payload)) return payload
  const inner = decodePlain(decompress(payload))
  if (isCompressed(inner)) throw unreadable('is compressed twice')
  const seq = given(inner, 'seq') ?? given(payload, 'seq')
  if (seq !== undefined) inner.seq = seq
  return inner
}

/** @param {Uint8Array} bytes @returns {Payload} */
function decodePlain (bytes) {
  checkWire(bytes, PayloadSchema)
  try {
    return fromBinary(PayloadSchema, bytes, { readUnknownFields: false })
  } catch (error) {
    throw new SluiceError('SLUICE_SPARKPLUG', `The payload is not Sparkplug B: ${/** @type {Error} */ (error).message}.`, { cause: error })
  }
}

/**
 * A message's field, or undefined where the bytes do not contain it: read from the message itself, it would be 0.
 * @template {object} Message @template {keyof Message} Key
 * @param {Message} message @param {Key} key @returns {Message[Key]|undefined}
 */
export function given (message, key) {
  return Object.hasOwn(message, key) ? message[key] : undefined
}

/** @param {bigint} ns */
export function msOf (ns) {
  return ns / NS_PER_MS
}

/** @param {bigint} ms */
export function nsOf (ms) {
  return ms * NS_PER_MS
}

/** The command that requests a node's births. @param {bigint} ns  now */
export function encodeRebirthCommand (ns) {
  const timestamp = msOf(ns)
  return encodePayload({
    timestamp,
    metrics: [{ name: REBIRTH, timestamp, datatype: BOOLEAN, value: { case: 'booleanValue', value: true } }]
  })
}

/** @param {Payload} command */
export function asksForRebirth ({ metrics }) {
  return metrics.some(({ name, value }) => name === REBIRTH && value.case === 'booleanValue' && value.value)
}

/** @param {string|undefined} unit @returns {MetricInit['properties']} */
export function unitProperty (unit) {
  return unit ? { keys: ['engUnit'], values: [{ type: STRING, value: { case: 'stringValue', value: unit } }] } : undefined
}

/** @returns {MetricInit['properties']} */
export function badProperty () {
  return { keys: ['Quality'], values: [{ type: INT32, value: { case: 'intValue', value: BAD } }] }
}

/** @param {Metric} metric @returns {string|undefined} */
export function unitOf (metric) {
  const value = propertyOf(metric, 'engUnit')
  return value?.case === 'stringValue' && value.value !== '' ? value.value : undefined
}

/**
 * Why a value is not good, from its property `Quality`. Besides the three codes of the specification, Ignition's are understood: their
 * highest bit means bad, OPC's are good from 192.
 * @param {Metric} metric
 * @returns {string|undefined}
 */
export function qualityOf (metric) {
  const value = propertyOf(metric, 'Quality')
  if (value?.case !== 'intValue' && value?.case !== 'longValue') return undefined
  const code = Number(value.value) | 0
  if (QUALITIES.has(code)) return QUALITIES.get(code)
  return code < 192 ? `quality ${code}` : undefined
}

/** @param {Metric} metric @param {string} key */
function propertyOf ({ properties }, key) {
  const at = properties?.keys.indexOf(key) ?? -1
  return at < 0 ? undefined : properties?.values[at]?.value
}
