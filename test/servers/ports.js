import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export { freePort } from '../../gateway/bench/free-port.js'

/**
 * Waits until something accepts connections on a port of 127.0.0.1, or of another address of this machine.
 * @param {number} port
 * @param {{host?: string, patienceMs?: number, gone?: () => string|null}} [options]  `gone` says why waiting is in vain, null while it
 *   is not
 */
export async function waitForPort (port, { host = '127.0.0.1', patienceMs = 15_000, gone = () => null } = {}) {
  const deadline = Date.now() + patienceMs
  while (!await accepts(port, host)) {
    const reason = gone()
    if (reason) throw new Error(`Nothing will listen on port ${port}: ${reason}`)
    if (Date.now() > deadline) throw new Error(`Nothing listens on port ${port} after ${patienceMs} ms.`)
    await sleep(20)
  }
}

/** @param {number} port @param {string} host @returns {Promise<boolean>} */
function accepts (port, host) {
  return new Promise(resolve => {
    const socket = connect(port, host)
    socket.once('connect', () => {
      const isItself = socket.localPort === port // that can be, where nothing listens
      socket.destroy()
      resolve(!isItself)
    })
    socket.once('error', () => resolve(false))
  })
}
