import { crc16 } from '../../modbus/wire/crc16.js'

const NOTHING = new Uint8Array(0)
const MIN_BYTES = 4
const MAX_BYTES = 256
const LENGTH_UNKNOWN = null
const INCOMPLETE = Infinity

/**
 * Finds the requests in what a device hears on its line, however it is cut into chunks. The length of a request follows from its function;
 * one of a function unknown here ends with silence on the line.
 */
export class RtuRequests {
  #rest = NOTHING
  #isNoise = false

  /** Whether the start of a request may have come. */
  get isWaiting () { return this.#rest.length > 0 }

  /**
   * @param {Uint8Array} chunk
   * @param {(unit: number, pdu: Uint8Array) => void} take
   * @returns {number} stretches of bytes that are part of no request: those that begin here
   */
  push (chunk, take) {
    return this.#scan(this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk, take, false)
  }

  /**
   * The line has been silent: what has begun is over.
   * @param {(unit: number, pdu: Uint8Array) => void} take
   * @returns {number} as above
   */
  settle (take) {
    const stretches = this.#scan(this.#rest, take, true)
    this.#isNoise = false
    return stretches
  }

  /** @param {Uint8Array} bytes @param {(unit: number, pdu: Uint8Array) => void} take @param {boolean} isOver */
  #scan (bytes, take, isOver) {
    let at = 0
    let stretches = 0
    while (at < bytes.length) {
      const left = bytes.length - at
      const length = frameLength(bytes, at) ?? (isOver || left > MAX_BYTES ? left : INCOMPLETE)
      if (length > left && !isOver) break
      if (length >= MIN_BYTES && length <= Math.min(left, MAX_BYTES) && crc16(bytes, at, at + length) === 0) {
        take(bytes[at], bytes.slice(at + 1, at + length - 2))
        at += length
        this.#isNoise = false
      } else {
        at++
        if (!this.#isNoise) stretches++
        this.#isNoise = true
      }
    }
    this.#rest = at < bytes.length ? bytes.slice(at) : NOTHING
    return stretches
  }
}

/** @param {Uint8Array} bytes @param {number} at @returns {number|typeof LENGTH_UNKNOWN} with unit and checksum */
function frameLength (bytes, at) {
  const functionCode = bytes[at + 1]
  if (functionCode >= 1 && functionCode <= 6) return 8
  if (functionCode === 15 || functionCode === 16) return 9 + (bytes[at + 6] ?? INCOMPLETE)
  return functionCode === undefined ? INCOMPLETE : LENGTH_UNKNOWN
}
