import { nameOf, unstartedIn } from '../live/unstarted.js'

/**
 * Says in a line whether the flow runs, whenever that changes: Node-RED starts it some time after itself, and not at all where nodes are
 * missing or somebody has stopped it. In between, as on a deploy, nothing is said.
 * @param {import('node:events').EventEmitter} events  of Node-RED
 * @param {import('../live/unstarted.js').Nodes} nodes
 * @param {(state: string) => void} say
 */
export function watchFlow (events, nodes, say) {
  events.on('flows:started', (/** @type {import('../live/unstarted.js').Started} */ event) => {
    const unstarted = unstartedIn(event, nodes).map(nameOf)
    say(unstarted.length === 0 ? 'The flow runs.' : `The flow runs without what could not be started: ${unstarted.join(', ')}.`)
  })
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
