import { onFlows } from '../flow-events.js'
import { nodesBehind, SINK_TYPES } from '../sinks/wired.js'

/**
 * Tells of deploys that stop or rewire nodes behind a node: what those had under way is lost. Sinks tell that themselves.
 * @param {import('../node.js').RED} RED
 * @param {string} id  of the node
 * @param {{begun: () => void, over: () => void}} interruption
 * @returns {() => void} ends it
 */
export function onInterruption (RED, id, { begun, over }) {
  let isInterrupted = false
  const endings = [
    onFlows(RED, 'flows:stopping', ({ diff: { changed, removed, rewired } }) => {
      const touched = new Set([...changed, ...removed, ...rewired])
      isInterrupted = nodesBehind(RED, id).some(node => touched.has(node.id) && !SINK_TYPES.has(node.type))
      if (isInterrupted) begun()
    }),
    onFlows(RED, 'flows:started', () => {
      if (isInterrupted) over()
      isInterrupted = false
    })
  ]
  return () => { for (const end of endings) end() }
}
