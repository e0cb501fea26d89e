/** `/comms` in all the ways in which Node-RED finds it in a request. */
const COMMS = /^(?:\w+:[/\\]+[^/\\]+)?[/\\]comms(?:[?#]|$)/i

/** Node-RED makes a regular expression of what is subscribed to, in which braces are an error and `+` beside `+` takes for ever. */
const FILTER = /^(?:\+|[^+/{}]*)(?:\/(?:\+|[^+/{}]*))*$/

/**
 * Keeps `/comms`, the websocket of Node-RED's editor, from taking the gateway down: anybody may open it and only then logs in by a message,
 * and Node-RED throws, or rejects what nobody awaits, at a message that is not as the editor sends it. Here that ends its connection.
 * @param {any} WebSocketServer  the class that the editor uses
 * @param {any} comms  Node-RED's runtime, as the editor calls it
 */
export function guardComms (WebSocketServer, comms) {
  const { handleUpgrade } = WebSocketServer.prototype
  WebSocketServer.prototype.handleUpgrade = function (/** @type {any} */ request, /** @type {any[]} */ ...[socket, head, done]) {
    if (!COMMS.test(request.url)) return handleUpgrade.call(this, request, socket, head, done)
    handleUpgrade.call(this, request, socket, head, (/** @type {any} */ client, /** @type {any[]} */ ...more) => {
      endAtErrors(client)
      done(client, ...more)
    })
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
