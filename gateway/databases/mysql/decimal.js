/**
 * Writes whole numbers as decimal digits without BigInt arithmetic, which would cost ten times as much.
 *
 * @typedef {(buffer: Uint8Array, at: number, row: number) => number} Write  returns where what follows starts
 */

const MINUS = 45
const BILLION = 1e9

/** The most that an int64 takes. */
export const INT64_BYTES = 20

/** "000" to "999", one after the other. */
const TRIPLES = Uint8Array.from(Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0')).join(''), digit => digit.charCodeAt(0))

// Typed arrays hold the two halves of an int64 in the machine's own order.
const LOW = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1
const HIGH = 1 - LOW

// 2^32 = BILLIONS billions and REST.
const BILLIONS = 4
const REST = 294_967_296

/**
 * A number's billions and the rest, rounded down: the seconds of a time and its nanoseconds.
 * Every step is exact in a double: REST is a multiple of 2^11.
 * @param {BigInt64Array} column
 * @returns {(row: number, split: {billions: number, rest: number}) => void}  fills in `split`
 */
export function splitter (column) {
  const low = new Uint32Array(column.buffer, column.byteOffset, column.length * 2)
  const high = new Int32Array(column.buffer, column.byteOffset, column.length * 2)
  return (row, split) => {
    const upper = high[2 * row + HIGH]
    const product = upper * REST
    let quotient = Math.floor(product / BILLION)
    let rest = product - quotient * BILLION
    if (rest < 0) {
      quotient--
      rest += BILLION
    }
    rest += low[2 * row + LOW]
    const carried = Math.floor(rest / BILLION)
    split.billions = upper * BILLIONS + quotient + carried
    split.rest = rest - carried * BILLION
  }
}

/**
 * Fast where consecutive values share their billions, as times do.
 * @param {BigInt64Array} column
 * @returns {Write}
 */
export function int64Writer (column) {
  const splitRow = splitter(column)
  const split = { billions: 0, rest: 0 }
  const digits = new Uint8Array(12)
  let written = NaN
  let length = 0
  return (buffer, at, row) => {
    splitRow(row, split)
    let { billions, rest } = split
    if (billions < 0) {
      buffer[at++] = MINUS
      billions = -billions
      if (rest > 0) {
        billions--
        rest = BILLION - rest
      }
    }
    if (billions === 0) return writeWhole(buffer, at, rest)
    if (billions !== written) {
      length = writeWhole(digits, 0, billions)
      written = billions
    }
    for (let i = 0; i < length; i++) buffer[at++] = digits[i]
    return writeNine(buffer, at, rest)
  }
}

/** @param {Uint8Array} buffer @param {number} at @param {number} value  0 to 999,999,999, written with nine digits */
export function writeNine (buffer, at, value) {
  const millions = (value / 1e6) | 0
  const rest = value - millions * 1e6
  const thousands = (rest / 1000) | 0
  writeTriple(buffer, at, millions)
  writeTriple(buffer, at + 3, thousands)
  writeTriple(buffer, at + 6, rest - thousands * 1000)
  return at + 9
}

/** @param {Uint8Array} buffer @param {number} at @param {number} value  whole, from -2^53 to 2^53 */
export function writeWhole (buffer, at, value) {
  if (value < 0) {
    buffer[at++] = MINUS
    value = -value
  }
  if (value < 1000) return writeSmall(buffer, at, value)
  const thousands = Math.floor(value / 1000)
  at = writeWhole(buffer, at, thousands)
  writeTriple(buffer, at, value - thousands * 1000)
  return at + 3
}

/** @param {Uint8Array} buffer @param {number} at @param {number} value  0 to 999 */
function writeSmall (buffer, at, value) {
  const from = 3 * value
  if (value > 99) buffer[at++] = TRIPLES[from]
  if (value > 9) buffer[at++] = TRIPLES[from + 1]
  buffer[at] = TRIPLES[from + 2]
  return at + 1
}

/** @param {Uint8Array} buffer @param {number} at @param {number} value  0 to 999, written with three digits */
function writeTriple (buffer, at, value) {
  const from = 3 * value
  buffer[at] = TRIPLES[from]
  buffer[at + 1] = TRIPLES[from + 1]
  buffer[at + 2] = TRIPLES[from + 2]
}
