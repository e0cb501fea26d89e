import { MbapParser, mbapFrame } from '../../modbus/wire/mbap.js'
import { rtuFrame } from '../../modbus/wire/rtu.js'
import { RtuRequests } from './rtu-requests.js'

/**
 * How a device takes requests and gives replies on one connection.
 *
 * @typedef {object} Request
 * @property {number} transaction  0 where the framing has none
 * @property {number} unit
 * @property {Uint8Array} pdu
 *
 * @typedef {object} Intake
 * @property {Request[]} requests
 * @property {number} bad  stretches of bytes that are not a request
 * @property {boolean} [isLost]  and nothing that follows can be understood
 *
 * @typedef {object} ServerFraming
 * @property {(chunk: Uint8Array) => Intake} receive
 * @property {(address: {transaction: number, unit: number}, pdu: Uint8Array) => Uint8Array} frame
 * @property {() => boolean} waits  for the rest of a request, unless there is silence
 * @property {() => Intake} settle  after silence
 */

/** Of Modbus TCP. @returns {ServerFraming} */
export function tcpFraming () {
  const parser = new MbapParser()
  return {
    receive (chunk) {
      /** @type {Request[]} */
      const requests = []
      const isLost = parser.push(chunk, (transaction, unit, pdu) => { requests.push({ transaction, unit, pdu }) }) !== null
      return { requests, bad: Number(isLost), isLost }
    },
    frame: ({ transaction, unit }, pdu) => mbapFrame(transaction, unit, pdu),
    waits: () => false,
    settle: () => ({ requests: [], bad: 0 })
  }
}

/** Of a serial line. @returns {ServerFraming} */
export function rtuFraming () {
  const parser = new RtuRequests()
  const gather = (/** @type {(take: (unit: number, pdu: Uint8Array) => void) => number} */ scan) => {
    /** @type {Request[]} */
    const requests = []
    const bad = scan((unit, pdu) => { requests.push({ transaction: 0, unit, pdu }) })
    return { requests, bad }
  }
  return {
    receive: chunk => gather(take => parser.push(chunk, take)),
    frame: ({ unit }, pdu) => rtuFrame(unit, pdu),
    waits: () => parser.isWaiting,
    settle: () => gather(take => parser.settle(take))
  }
}
