import { createServer } from 'node:net'

/**
 * A Modbus TCP server that answers every read of registers at once, for measuring masters. Run in a process of its own, it prints its port
 * to the standard output.
 */

const HEADER = 7

createServer(socket => {
  socket.setNoDelay(true)
  /** @type {Buffer} */
  let rest = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', chunk => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    const answers = []
    let at = 0
    for (; bytes.length - at >= 6 && bytes.length - at >= 6 + bytes.readUInt16BE(at + 4); at += 6 + bytes.readUInt16BE(at + 4)) {
      answers.push(answerTo(bytes, at))
    }
    rest = bytes.subarray(at)
    if (answers.length > 0) socket.write(Buffer.concat(answers))
  })
}).listen(0, '127.0.0.1', /** @this {import('node:net').Server} */ function () {
  process.stdout.write(`${/** @type {import('node:net').AddressInfo} */ (this.address()).port}\n`)
})

/** Register n holds n. @param {Buffer} bytes @param {number} at */
function answerTo (bytes, at) {
  const address = bytes.readUInt16BE(at + HEADER + 1)
  const count = bytes.readUInt16BE(at + HEADER + 3)
  const answer = Buffer.allocUnsafe(HEADER + 2 + 2 * count)
  bytes.copy(answer, 0, at, at + HEADER + 1)
  answer.writeUInt16BE(3 + 2 * count, 4)
  answer[HEADER + 1] = 2 * count
  for (let i = 0; i < count; i++) answer.writeUInt16BE((address + i) & 0xFFFF, HEADER + 2 + 2 * i)
  return answer
}
