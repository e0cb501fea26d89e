import { refuseUpgrade } from './refuse.js'

/**
 * Has every request to upgrade checked before any listener sees it. Each listener of an `upgrade` gets all of them, and answers those it
 * knows: one that refuses could not keep the others from accepting.
 * @param {import('node:http').Server} server
 * @param {(request: import('node:http').IncomingMessage) => Promise<void>|void} check  throws what it refuses with
 */
export function guardUpgrades (server, check) {
  /** @type {(event: string, ...details: any[]) => boolean} */
  const emit = server.emit.bind(server)
  server.emit = (/** @type {string} */ event, /** @type {any[]} */ ...details) => {
    if (event !== 'upgrade') return emit(event, ...details)
    const [request, socket] = details
    const breakOff = () => socket.destroy()
    socket.on('error', breakOff)
    const accept = () => {
      socket.off('error', breakOff)
      emit(event, ...details)
    }
    Promise.resolve(request).then(check).then(accept, error => refuseUpgrade(socket, error))
    return true
  }
}
