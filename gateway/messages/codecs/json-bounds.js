import { MAX_NESTING, MAX_VALUES, tooLarge } from '../bounds.js'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Refuses a JSON text that would become too many values, or too deeply nested ones, before it is parsed: three bytes can become an object.
 * @param {Uint8Array} bytes  JSON or not
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_MESSAGE_TOO_LARGE
 */
export function checkJson (bytes) {
  let values = 1
  let depth = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) i = closingQuote(bytes, i)
    else if (byte === COMMA) values++
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values++
      if (++depth > MAX_NESTING) throw tooLarge(`its objects and arrays are nested more than ${MAX_NESTING} deep`, 'Send flat objects.')
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
  }
  if (values > MAX_VALUES) throw tooLarge(`it has over ${MAX_VALUES} values`)
}

/** @param {Uint8Array} bytes @param {number} at  of the opening quote */
function closingQuote (bytes, at) {
  for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
  return at
}
