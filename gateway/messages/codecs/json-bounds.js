import { MAX_VALUES, tooLarge } from '../bounds.js'

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, OPEN_OBJECT] = Buffer.from('"\\,[{')

/**
 * Refuses a JSON text that would become too many values before it is read: three bytes can become an object.
 * @param {Uint8Array} bytes  JSON or not
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_MESSAGE_TOO_LARGE
 */
export function checkJson (bytes) {
  if (bytes.length < MAX_VALUES) return
  let values = 1
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === QUOTE) i = closingQuote(bytes, i)
    else if (byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) values++
  }
  if (values > MAX_VALUES) throw tooLarge(`it has over ${MAX_VALUES} values`)
}

/** @param {Uint8Array} bytes @param {number} at  of the opening quote */
function closingQuote (bytes, at) {
  for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
  return at
}
