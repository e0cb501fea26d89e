import { wordsOfText } from '../../resources/modbus-tags.js'
import { SluiceError } from '../base/errors.js'
import { swapsBytes } from './bytes.js'

/**
 * Texts: two bytes a register, the first one in the high byte unless the order swaps bytes. A text ends at the first NUL; trailing spaces
 * are removed.
 *
 * @typedef {object} Charset
 * @property {(bytes: Buffer) => string|undefined} decode  undefined where the bytes are no such text
 * @property {(text: string) => Buffer|undefined} encode  undefined for characters that it does not have
 * @property {string} characters  that it has
 * @property {string} unit  of a text's length
 * @property {string} fault  of bytes that are no such text
 */

/** @type {Charset} */
const LATIN_1 = {
  decode: bytes => bytes.toString('latin1'),
  encode: text => /[\0\u0100-\uFFFF]/.test(text) ? undefined : Buffer.from(text, 'latin1'),
  characters: 'characters that fit a byte (ISO 8859-1)',
  unit: 'characters',
  fault: ''
}

/** @type {Charset} */
const UTF_8 = {
  decode (bytes) {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true }) // a character cut at the end is left out
    } catch {
      return undefined
    }
  },
  encode: text => text.includes('\0') || !text.isWellFormed() ? undefined : Buffer.from(text),
  characters: 'characters of UTF-8 other than NUL',
  unit: 'bytes in UTF-8',
  fault: 'not UTF-8'
}

/** By the type of a tag. @type {Record<string, Charset>} */
export const TEXTS = { string: LATIN_1, 'string-utf8': UTF_8 }

/**
 * @param {string} type  a key of TEXTS
 * @param {number} length  bytes
 * @param {import('./bytes.js').Order} order
 * @returns {import('./values.js').Codec}
 */
export function textCodec (type, length, order) {
  const { decode, encode, characters, unit, fault } = TEXTS[type]
  const count = wordsOfText(length)
  const [first, second] = swapsBytes(order) ? [0, 8] : [8, 0]
  const shiftAt = (/** @type {number} */ i) => i % 2 === 0 ? first : second
  const scratch = Buffer.alloc(length)
  return {
    field: 'string',
    count,
    fault: () => fault,
    read (registers, at) {
      let end = 0
      for (; end < length; end++) {
        scratch[end] = registers[at + (end >>> 1)] >>> shiftAt(end)
        if (scratch[end] === 0) break
      }
      return decode(scratch.subarray(0, end))?.replace(/ +$/, '')
    },
    encode (value) {
      if (typeof value !== 'string') throw refusal('must be text')
      const bytes = encode(value)
      if (!bytes) throw refusal(`must consist of ${characters}`)
      if (bytes.length > length) throw refusal(`must have at most ${length} ${unit}`)
      const registers = new Uint16Array(count)
      bytes.forEach((byte, i) => { registers[i >>> 1] |= byte << shiftAt(i) })
      return registers
    }
  }
}

/** @param {string} problem */
function refusal (problem) {
  return new SluiceError('SLUICE_MODBUS_VALUE', problem)
}
