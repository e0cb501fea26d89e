/**
 * @typedef {import('../../stats/reader.js').Report} Report
 * @typedef {{ticket: string, gateway: string, process: number}} Session
 * @typedef {object} Watcher
 * @property {(session: Session) => void} onOpen
 * @property {(report: Report) => void} onReport
 * @property {() => void} onGone  called once for each time the gateway is lost
 */

const SILENCE_MS = 3000
const RETRY_MS = 1000

/** Follows the gateway's reports, reconnecting for ever. @param {Watcher} watcher */
export async function watch ({ onOpen, onReport, onGone }) {
  for (let wasHere = true; ;) {
    const session = await openSession()
    if (session) {
      wasHere = true
      await follow(session, onOpen, onReport)
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
 * Resolves when the stream has ended, or has been silent for too long.
 * @param {Session} session
 * @param {Watcher['onOpen']} onOpen
 * @param {Watcher['onReport']} onReport
 */
function follow (session, onOpen, onReport) {
  return new Promise(resolve => {
    const url = new URL(`stream?ticket=${session.ticket}`, location.href)
    url.protocol = url.protocol.replace('http', 'ws')
    const socket = new WebSocket(url)
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
      onReport(JSON.parse(data))
    }
  })
}
