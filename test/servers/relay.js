import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * A way to a server on 127.0.0.1 that can be cut, which takes no time, where a stop and a start of the server take many seconds.
 * @param {number} to  port
 */
export async function startRelay (to) {
  /** Those that have come. @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  const relay = createServer(socket => {
    const onward = connect(to, '127.0.0.1')
    sockets.add(socket)
    socket.once('close', () => { sockets.delete(socket); onward.destroy() })
    onward.once('close', () => socket.destroy())
    for (const each of [socket, onward]) each.on('error', () => {})
    socket.pipe(onward).pipe(socket)
  })
  const open = async (port = 0) => { await once(relay.listen(port, '127.0.0.1'), 'listening') }
  await open()
  const { port } = /** @type {import('node:net').AddressInfo} */ (relay.address())
  return {
    port,
    get connections () { return sockets.size },
    mend: () => open(port),
    /** Until the first has come again. */
    used: () => once(relay, 'connection'),
    /** Ends each connection as a server does that is stopped. */
    hangUp () {
      for (const socket of sockets) socket.end()
    },
    /** Whatever is sent on the connections that there are is lost, and they stay open. */
    swallow () {
      for (const socket of sockets) socket.unpipe().resume()
    },
    async cut () {
      const closed = once(relay, 'close')
      relay.close()
      for (const socket of sockets) socket.destroy()
      await closed
    }
  }
}
