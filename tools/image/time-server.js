import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const PORT = 123
const PACKET_BYTES = 48
/** Version 4, a server's answer. */
const ANSWER = 0x24
const SECONDS_1900_TO_1970 = 2_208_988_800
const [ORIGIN_AT, RECEIVED_AT, SENT_AT] = [24, 32, 40]

/**
 * The time as a network has it (SNTP): a gateway holds samples back until its clock is set, and a Raspberry Pi has none of its own.
 * @returns {Promise<() => void>} stops it
 */
export async function serveTime () {
  const socket = createSocket('udp4')
  socket.on('message', (request, { port, address }) => {
    if (request.length < PACKET_BYTES) return
    const answer = Buffer.alloc(PACKET_BYTES)
    answer[0] = ANSWER
    answer[1] = 1 // stratum
    answer[3] = 0xEC // precision: a microsecond
    request.copy(answer, ORIGIN_AT, SENT_AT, PACKET_BYTES)
    for (const at of [16, RECEIVED_AT, SENT_AT]) writeTime(answer, at, Date.now())
    socket.send(answer, port, address)
  })
  socket.bind(PORT, '127.0.0.1')
  await once(socket, 'listening')
  return () => socket.close()
}

/** @param {Buffer} packet @param {number} at @param {number} ms */
function writeTime (packet, at, ms) {
  packet.writeUInt32BE(Math.floor(ms / 1000) + SECONDS_1900_TO_1970, at)
  packet.writeUInt32BE(Math.floor(ms % 1000 / 1000 * 2 ** 32), at + 4)
}
