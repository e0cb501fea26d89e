import { once } from 'node:events'
import { createServer } from 'node:net'
import { MbapParser, mbapFrame } from '../../gateway/modbus/wire/mbap.js'
import { rtuFrame } from '../../gateway/modbus/wire/rtu.js'

const RTU_READ_LENGTH = 8

/**
 * @typedef {object} FakeRequest
 * @property {number} unit
 * @property {Uint8Array} pdu
 * @property {number} address
 * @property {number} count
 * @property {number} atMs  when it came
 * @property {number} connection  1 for the first
 * @property {import('node:net').Socket} socket
 * @property {(pdu: ArrayLike<number>, as?: {unit?: number, transaction?: number}) => Uint8Array} frame  of a reply to it
 * @property {(...registers: number[]) => void} reply
 */

/**
 * Devices that behave as badly as a test wants: it is given every request and does with the socket what it likes. In RTU they understand no
 * requests but reads, which must come whole.
 * @param {{rtu?: boolean, host?: string, port?: number}} options @param {(request: FakeRequest) => void} behave
 */
export async function startFakeSlaves ({ rtu = false, host = '127.0.0.1', port = 0 }, behave) {
  /** @type {FakeRequest[]} */
  const requests = []
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  let connections = 0
  const server = createServer(socket => {
    const connection = ++connections
    const parser = new MbapParser()
    const take = (/** @type {number} */ transaction, /** @type {number} */ unit, /** @type {Uint8Array} */ pdu) => {
      /** @type {FakeRequest} */
      const request = {
        unit,
        pdu,
        address: pdu[1] << 8 | pdu[2],
        count: pdu[3] << 8 | pdu[4],
        atMs: performance.now(),
        connection,
        socket,
        frame: (reply, as = {}) => rtu
          ? rtuFrame(as.unit ?? unit, Uint8Array.from(reply))
          : mbapFrame(as.transaction ?? transaction, as.unit ?? unit, Uint8Array.from(reply)),
        reply: (...registers) => { socket.write(request.frame(registersPdu(pdu[0], registers))) }
      }
      requests.push(request)
      behave(request)
    }
    sockets.add(socket)
    socket.setNoDelay()
    socket.on('error', () => {})
    socket.on('data', chunk => {
      if (!rtu) parser.push(chunk, take)
      else for (let at = 0; at < chunk.length; at += RTU_READ_LENGTH) take(0, chunk[at], chunk.subarray(at + 1, at + RTU_READ_LENGTH - 2))
    })
  }).listen(port, host)
  await once(server, 'listening')

  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    requests,
    get connections () { return connections },
    async close () {
      if (!server.listening) return
      server.close()
      for (const socket of sockets) socket.destroy()
      await once(server, 'close')
    }
  }
}

/** @param {number} functionCode @param {number[]} registers */
export function registersPdu (functionCode, registers) {
  return [functionCode, 2 * registers.length, ...registers.flatMap(register => [register >>> 8, register & 0xFF])]
}
