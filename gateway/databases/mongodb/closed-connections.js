// @ts-expect-error The driver has no types of what it does not export.
import connections from 'mongodb/lib/cmap/connection.js'

const { prototype } = connections.Connection
const { cleanup } = prototype

/**
 * A command that meets a connection between the end of its socket and that socket's "close" cannot write, and the driver (7.8 and 7.9)
 * waits for a "drain" that never comes: a sink whose server was stopped at such a moment stored nothing until it was deployed again. Woken
 * when the connection is closed, the command finds why that was, and fails with it.
 * @this {any}
 * @param {Error} reason
 */
prototype.cleanup = function (reason) {
  cleanup.call(this, reason)
  this.socket.emit('drain')
}
