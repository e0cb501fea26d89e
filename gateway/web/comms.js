import { WaitingRoom } from './waiting-room.js'

/** What the editor sends is far smaller. */
const MAX_MESSAGE_BYTES = 2 ** 16
const LOGIN_PATIENCE_MS = 10_000
const LOGIN_PLACES = 100

/** `/comms` in all the ways in which Node-RED finds it in a request. */
const COMMS = /^(?:\w+:[/\\]+[^/\\]+)?[/\\]comms(?:[?#]|$)/i

/** Node-RED makes a regular expression of what is subscribed to, in which braces are an error and `+` beside `+` takes for ever. */
const FILTER = /^(?:\+|[^+/{}]*)(?:\/(?:\+|[^+/{}]*))*$/

/**
 * Keeps `/comms`, the websocket of Node-RED's editor, from taking the gateway down: anybody may open it and only then logs in by a message,
 * and Node-RED throws, or rejects what nobody awaits, at a message that is not as the editor sends it. Here that ends its connection; so
 * does a message that is too long, and not to log in.
 * @param {any} WebSocketServer  the class that the editor uses
 * @param {any} comms  Node-RED's runtime, as the editor calls it
 * @param {number} [patienceMs]  how long somebody may take to log in
 */
export function guardComms (WebSocketServer, comms, patienceMs = LOGIN_PATIENCE_MS) {
  const room = new WaitingRoom({ places: LOGIN_PLACES, patienceMs })
  /** What lets each of those that wait out of the room. @type {WeakMap<object, () => void>} */
  const leaves = new WeakMap()
  const { handleUpgrade } = WebSocketServer.prototype
  WebSocketServer.prototype.handleUpgrade = function (/** @type {any} */ request, /** @type {any[]} */ ...[socket, head, done]) {
    if (!COMMS.test(request.url)) return handleUpgrade.call(this, request, socket, head, done)
    this.options.maxPayload = MAX_MESSAGE_BYTES
    handleUpgrade.call(this, request, socket, head, (/** @type {any} */ client, /** @type {any[]} */ ...more) => {
      endAtErrors(client)
      const leave = room.enter(request.socket.remoteAddress ?? '', () => client.terminate())
      leaves.set(client, leave)
      client.once('close', leave)
      done(client, ...more)
    })
  }
  const { addConnection } = comms
  comms.addConnection = (/** @type {any} */ admitted) => {
    leaves.get(admitted.client.ws)?.()
    return addConnection(admitted)
  }
  for (const name of ['subscribe', 'receive']) {
    const call = comms[name]
    comms[name] = async (/** @type {any} */ asked) => {
      try {
        if (name === 'subscribe' && !FILTER.test(asked.topic)) throw new TypeError('This is no topic.')
        await call(asked)
      } catch {
        asked.client.ws.terminate()
      }
    }
  }
}

/** @param {any} client */
function endAtErrors (client) {
  const emit = client.emit.bind(client)
  client.emit = (/** @type {string} */ event, /** @type {any[]} */ ...details) => {
    if (event !== 'message') return emit(event, ...details)
    try {
      return emit(event, ...details)
    } catch {
      client.terminate()
      return true
    }
  }
}
