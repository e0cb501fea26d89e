import { ScalarType } from '@bufbuild/protobuf'
import { SluiceError } from '../base/errors.js'
import { MAX_NESTING, MAX_RECORDS, tooLarge } from '../messages/bounds.js'

/**
 * @typedef {import('@bufbuild/protobuf').DescMessage} DescMessage
 * @typedef {{message?: DescMessage, isRepeated: boolean, isPacked: boolean}} Part
 */

const VARINT = 0
const FIXED_64 = 1
const LENGTH_DELIMITED = 2
const FIXED_32 = 5

/** What is counted of a message's fields, by their numbers. @type {Map<DescMessage, Map<number, Part>>} */
const known = new Map()

/**
 * Refuses Protocol Buffers that would become too many objects, before they are decoded: two bytes can become one.
 * @param {Uint8Array} bytes  whatever they are: what is broken is left to the decoder
 * @param {DescMessage} schema
 * @throws {SluiceError} SLUICE_MESSAGE_TOO_LARGE, SLUICE_SPARKPLUG
 */
export function checkWire (bytes, schema) {
  new Wire(bytes).count(schema, bytes.length, 1)
}

class Wire {
  #bytes
  #at = 0
  #parts = 0

  /** @param {Uint8Array} bytes */
  constructor (bytes) {
    this.#bytes = bytes
  }

  /** @param {DescMessage} schema @param {number} end @param {number} depth */
  count (schema, end, depth) {
    if (depth > MAX_NESTING) throw tooLarge(`its templates are nested more than ${MAX_NESTING} deep`, 'Send single metrics.')
    const parts = partsOf(schema)
    while (this.#at < end) {
      const tag = this.#varint()
      const part = parts.get(Math.floor(tag / 8))
      const wireType = tag % 8
      if (part?.isRepeated) this.#add(1)
      if (wireType === LENGTH_DELIMITED) this.#delimited(part, end, depth)
      else if (wireType === VARINT) this.#varint()
      else if (wireType === FIXED_64 || wireType === FIXED_32) this.#at += wireType === FIXED_64 ? 8 : 4
      else throw new SluiceError('SLUICE_SPARKPLUG', `The payload is not Sparkplug B: it has fields of wire type ${wireType}.`)
    }
  }

  /** @param {Part|undefined} part @param {number} end  of what it lies in @param {number} depth */
  #delimited (part, end, depth) {
    const length = this.#varint()
    const to = Math.min(this.#at + length, end)
    if (part?.isPacked) this.#add(length)
    if (part?.message) {
      if (!part.isRepeated) this.#add(1)
      this.count(part.message, to, depth + 1)
    }
    this.#at = to
  }

  /** @param {number} parts */
  #add (parts) {
    this.#parts += parts
    if (this.#parts > MAX_RECORDS) throw tooLarge(`it has over ${MAX_RECORDS} metrics, properties and elements`)
  }

  #varint () {
    let value = 0
    for (let scale = 1; this.#at < this.#bytes.length; scale *= 128) {
      const byte = this.#bytes[this.#at++]
      value += (byte & 0x7f) * scale
      if (byte < 0x80) break
    }
    return value
  }
}

/** @param {DescMessage} schema */
function partsOf (schema) {
  let parts = known.get(schema)
  if (!parts) {
    parts = new Map(schema.fields.map(field => [field.number, {
      message: field.message,
      isRepeated: field.fieldKind === 'list',
      isPacked: field.fieldKind === 'list' && field.listKind !== 'message' && !isText(field)
    }]))
    known.set(schema, parts)
  }
  return parts
}

/** @param {import('@bufbuild/protobuf').DescField} field */
function isText ({ scalar }) {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES
}
