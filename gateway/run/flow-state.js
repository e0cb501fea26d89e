/**
 * Says in a line whether the flow runs, whenever that changes: Node-RED starts it some time after itself, and not at all where nodes are
 * missing or somebody has stopped it. In between, as on a deploy, nothing is said.
 * @param {import('node:events').EventEmitter} events  of Node-RED
 * @param {(state: string) => void} say
 */
export function watchFlow (events, say) {
  events.on('flows:started', () => say('The flow runs.'))
  events.on('runtime-event', (/** @type {RuntimeEvent} */ { id, payload }) => {
    if (id !== 'runtime-state' || !payload || payload.deploy || !['stop', 'safe'].includes(payload.state ?? '')) return
    const reason = [payload.error ?? 'it was stopped', ...payload.types ?? [], ...(payload.modules ?? []).map(({ module }) => module)]
    say(`The flow does not run: ${reason.join(' ')}.`)
  })
}

/**
 * @typedef {object} RuntimeEvent  as Node-RED tells its editor
 * @property {string} id
 * @property {{state?: string, error?: string, deploy?: boolean, types?: string[], modules?: {module: string}[]}} [payload]
 */
