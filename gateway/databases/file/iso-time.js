// Typed arrays hold the two halves of an int64 in the machine's own order.
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

const TWO_32 = 2 ** 32
const MILLION = 1e6
const ZERO = 0x30

/** "2015-07-10T06:17:32.249713000Z" */
export const ISO_BYTES = 30
const SECONDS_CHARS = 20
const FRACTION_DIGITS = 9

/**
 * Writes times as ISO 8601 in UTC with nine decimals.
 * @param {BigInt64Array} time  nanoseconds since 1970
 * @returns {(buffer: Buffer, at: number, row: number) => number}
 */
export function isoWriter (time) {
  // In halves, as BigInt arithmetic would cost ten times as much.
  const low = new Uint32Array(time.buffer, time.byteOffset, time.length * 2)
  const high = new Int32Array(time.buffer, time.byteOffset, time.length * 2)
  let lastSecond = NaN
  const text = Buffer.alloc(SECONDS_CHARS)
  return (buffer, at, row) => {
    const upper = high[2 * row + HIGH]
    const quotient = Math.floor(upper / MILLION)
    const rest = (upper - quotient * MILLION) * TWO_32 + low[2 * row + LOW]
    const millions = Math.floor(rest / MILLION)
    const milliseconds = quotient * TWO_32 + millions
    const second = Math.floor(milliseconds / 1000)
    if (second !== lastSecond) {
      text.write(new Date(second * 1000).toISOString().slice(0, SECONDS_CHARS), 'latin1')
      lastSecond = second
    }
    for (let i = 0; i < SECONDS_CHARS; i++) buffer[at + i] = text[i]
    let fraction = (milliseconds - second * 1000) * MILLION + (rest - millions * MILLION)
    for (let i = at + SECONDS_CHARS + FRACTION_DIGITS - 1; i >= at + SECONDS_CHARS; i--) {
      const tenth = fraction / 10 | 0
      buffer[i] = ZERO + fraction - tenth * 10
      fraction = tenth
    }
    buffer[at + ISO_BYTES - 1] = 0x5a
    return at + ISO_BYTES
  }
}
