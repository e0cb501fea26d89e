/**
 * @typedef {import('../overview/overview.js').Tick} Tick
 * @typedef {{ticket: string, gateway: string, process: number, version: string, editor: string|null}} Session
 * @typedef {object} Watcher
 * @property {(session: Session) => void} onOpen
 * @property {(tick: Tick) => void} onTick
 * @property {() => void} onGone  called once for each time the gateway is lost
 */

/** Four times as long as it takes from one report to the next. */
const SILENCE_MS = 4000
const RETRY_MS = 1000

/** Follows the gateway's reports, reconnecting for ever. @param {Watcher} watcher */
export async function watch ({ onOpen, onTick, onGone }) {
  for (let wasHere = true; ;) {
    const session = await openSession()
    if (session) {
      wasHere = true
      await follow(session, onOpen, onTick)
    }
    if (wasHere) onGone()
    wasHere = false
    await new Promise(resolve => setTimeout(resolve, RETRY_MS))
  }
}

/** Null while there is no gateway. @returns {Promise<Session|null>} */
async function openSession () {
  try {
    const response = await fetch('session', { cache: 'no-store', signal: AbortSignal.timeout(SILENCE_MS) })
    return response.ok ? await response.json() : null
  } catch {
    return null
  }
}

/**
 * Resolves when the stream has ended, has been silent for too long, or has left out what the rest cannot be understood without.
 * @param {Session} session
 * @param {Watcher['onOpen']} onOpen
 * @param {Watcher['onTick']} onTick
 */
function follow (session, onOpen, onTick) {
  return new Promise(resolve => {
    const url = new URL(`stream?view=page&ticket=${session.ticket}`, location.href)
    url.protocol = url.protocol.replace('http', 'ws')
    const socket = new WebSocket(url)
    let layoutNumber = 0
    const end = () => {
      clearTimeout(silence)
      socket.onmessage = socket.onclose = null
      socket.close()
      resolve(undefined)
    }
    let silence = setTimeout(end, SILENCE_MS)
    socket.onopen = () => onOpen(session)
    socket.onclose = end
    socket.onmessage = ({ data }) => {
      clearTimeout(silence)
      silence = setTimeout(end, SILENCE_MS)
      /** @type {Tick} */
      const tick = JSON.parse(data)
      layoutNumber = tick.layout?.number ?? layoutNumber
      if (tick.layoutNumber === layoutNumber) onTick(tick)
      else end()
    }
  })
}
