/**
 * @typedef {import('./framing.js').Exchange} Exchange
 * @typedef {import('./framing.js').Framing} Framing
 */

const HEADER = 7
const MAX_LENGTH = 254
const NOTHING = new Uint8Array(0)

/**
 * A frame of Modbus TCP ("MODBUS messaging on TCP/IP" 1.0b, 3.1.3).
 * @param {number} transaction  0 to 65535 @param {number} unit @param {Uint8Array} pdu
 */
export function mbapFrame (transaction, unit, pdu) {
  const length = pdu.length + 1
  const frame = new Uint8Array(HEADER + pdu.length)
  frame[0] = transaction >>> 8
  frame[1] = transaction
  frame[4] = length >>> 8
  frame[5] = length
  frame[6] = unit
  frame.set(pdu, HEADER)
  return frame
}

/** Splits a stream into frames, however its chunks are cut. */
export class MbapParser {
  #rest = NOTHING

  /**
   * @param {Uint8Array} chunk
   * @param {(transaction: number, unit: number, pdu: Uint8Array) => void} take
   * @returns {string|null} why this is not, or no longer, Modbus TCP
   */
  push (chunk, take) {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    let at = 0
    while (bytes.length - at >= HEADER) {
      const protocol = bytes[at + 2] << 8 | bytes[at + 3]
      const length = bytes[at + 4] << 8 | bytes[at + 5]
      if (protocol !== 0) return `protocol ${protocol} instead of 0 in a header`
      if (length < 2 || length > MAX_LENGTH) return `a frame of ${length} bytes`
      const end = at + HEADER - 1 + length
      if (end > bytes.length) break
      take(bytes[at] << 8 | bytes[at + 1], bytes[at + 6], bytes.subarray(at + HEADER, end))
      at = end
    }
    this.#rest = at < bytes.length ? bytes.slice(at) : NOTHING
    return null
  }

  reset () {
    this.#rest = NOTHING
  }
}

/** The master's side: replies are matched by transaction, so many requests can be pending. @implements {Framing} */
export class Mbap {
  capacity = Infinity
  #parser = new MbapParser()
  /** @type {Map<number, Exchange>} */
  #awaited = new Map()
  /** @type {Map<Exchange, number>} */
  #transactions = new Map()
  #last = 0

  /** @param {Exchange} exchange */
  start (exchange) {
    do this.#last = (this.#last + 1) & 0xFFFF
    while (this.#awaited.has(this.#last))
    this.#awaited.set(this.#last, exchange)
    this.#transactions.set(exchange, this.#last)
    return mbapFrame(this.#last, exchange.unit, exchange.request.pdu)
  }

  /** @param {Exchange} exchange */
  end (exchange) {
    const transaction = this.#transactions.get(exchange)
    if (transaction === undefined) return
    this.#transactions.delete(exchange)
    this.#awaited.delete(transaction)
  }

  /** @param {Uint8Array} chunk */
  receive (chunk) {
    /** @type {import('./framing.js').Arrival[]} */
    const arrivals = []
    const lost = this.#parser.push(chunk, (transaction, unit, pdu) => {
      const exchange = this.#awaited.get(transaction)
      if (!exchange) return // too late, or never requested
      this.end(exchange)
      const answer = unit === exchange.unit ? exchange.request.read(pdu) : { problem: `unit ${unit} instead of ${exchange.unit}` }
      arrivals.push({ exchange, answer })
    })
    if (lost) arrivals.push({ lost })
    return arrivals
  }

  complaint () {
    return null
  }

  reset () {
    this.#parser.reset()
    this.#awaited.clear()
    this.#transactions.clear()
  }
}
