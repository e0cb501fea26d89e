import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export { freePort } from '../../gateway/bench/free-port.js'

/**
 * Waits until something accepts connections on 127.0.0.1:port.
 * @param {number} port
 * @param {{patienceMs?: number, gone?: () => string|null}} [options]  `gone` says why waiting is in vain, null while it is not
 */
export async function waitForPort (port, { patienceMs = 15_000, gone = () => null } = {}) {
  const deadline = Date.now() + patienceMs
  while (!await accepts(port)) {
    const reason = gone()
    if (reason) throw new Error(`Nothing will listen on port ${port}: ${reason}`)
    if (Date.now() > deadline) throw new Error(`Nothing listens on port ${port} after ${patienceMs} ms.`)
    await sleep(20)
  }
}

/** @param {number} port @returns {Promise<boolean>} */
function accepts (port) {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      const isItself = socket.localPort === port // that can be, where nothing listens
      socket.destroy()
      resolve(!isItself)
    })
    socket.once('error', () => resolve(false))
  })
}
