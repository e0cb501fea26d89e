import { crc16 } from './crc16.js'
import { EXCEPTION_BIT } from './pdu.js'

/**
 * @typedef {import('./framing.js').Exchange} Exchange
 * @typedef {import('./framing.js').Framing} Framing
 */

const MAX_KEPT = 1024
const NOTHING = new Uint8Array(0)

/**
 * A frame of a serial line ("MODBUS over serial line" 1.02, 2.5.1).
 * @param {number} unit @param {Uint8Array} pdu
 */
export function rtuFrame (unit, pdu) {
  const frame = new Uint8Array(pdu.length + 3)
  frame[0] = unit
  frame.set(pdu, 1)
  const crc = crc16(frame, 0, pdu.length + 1)
  frame[pdu.length + 1] = crc
  frame[pdu.length + 2] = crc >>> 8
  return frame
}

/**
 * The master's side: nothing in a reply identifies its request, so there is one at a time, and bytes received before it are dropped. A
 * reply is searched for at every byte: converters put noise or an echo of the request before it. Noise, or a reply of another unit,
 * function or length, would also need a matching checksum of 16 bits.
 * @implements {Framing}
 */
export class Rtu {
  capacity = 1
  /** @type {Exchange|null} */
  #awaited = null
  /** @type {Uint8Array} */
  #bytes = NOTHING
  /** @type {{text: string, isWhole: boolean}|null} */
  #complaint = null

  /** @param {Exchange} exchange */
  start (exchange) {
    this.reset()
    this.#awaited = exchange
    return rtuFrame(exchange.unit, exchange.request.pdu)
  }

  /** @param {Exchange} exchange */
  end (exchange) {
    if (this.#awaited === exchange) this.#awaited = null
  }

  /** @param {Uint8Array} chunk */
  receive (chunk) {
    const exchange = this.#awaited
    if (!exchange) return []
    this.#bytes = this.#bytes.length > 0 ? Buffer.concat([this.#bytes, chunk]) : chunk
    /** @type {import('./framing.js').Arrival[]} */
    const arrivals = []
    for (let answer = this.#find(exchange); answer; answer = this.#find(exchange)) arrivals.push({ exchange, answer })
    return arrivals
  }

  complaint () {
    return this.#complaint
  }

  reset () {
    this.#awaited = null
    this.#bytes = NOTHING
    this.#complaint = null
  }

  /** @param {Exchange} exchange */
  #find ({ unit, request }) {
    const bytes = this.#bytes
    const { pdu: { 0: functionCode }, replyLength, byteCount } = request
    let at = 0
    for (; at + 2 < bytes.length; at++) {
      if (bytes[at] !== unit) continue
      const isException = bytes[at + 1] === (functionCode | EXCEPTION_BIT)
      if (!isException && bytes[at + 1] !== functionCode) continue
      if (!isException && byteCount !== null && bytes[at + 2] !== byteCount) {
        this.#complain(`${bytes[at + 2]} bytes of data instead of ${byteCount}`, false)
        continue
      }
      const end = at + 1 + (isException ? 2 : replyLength)
      if (end + 2 > bytes.length) {
        this.#complain('it ends too soon', false)
        break
      }
      if (crc16(bytes, at, end) !== (bytes[end] | bytes[end + 1] << 8)) {
        this.#complain('its checksum is wrong', true)
        continue
      }
      const answer = request.read(bytes.subarray(at + 1, end))
      if (!('problem' in answer)) {
        this.#bytes = bytes.slice(end + 2)
        return answer
      }
      this.#complain(answer.problem, false)
      at = end + 1
    }
    this.#bytes = bytes.slice(Math.max(at, bytes.length - MAX_KEPT))
    return null
  }

  /** @param {string} text @param {boolean} isWhole */
  #complain (text, isWhole) {
    if (!this.#complaint?.isWhole) this.#complaint = { text, isWhole }
  }
}
