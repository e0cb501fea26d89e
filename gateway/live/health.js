import { describe, SluiceError } from '../base/errors.js'
import { circlesIn, nameOf, unstartedIn } from './unstarted.js'

/**
 * @typedef {'starting'|'running'|'stopping'} Status
 * @typedef {{on: (event: string, listener: (event: any) => void) => void, off: (event: string, listener: (event: any) => void) => void}}
 *   Events  of Node-RED
 */

/** @param {string|null} reason  that Node-RED has */
function unstarted (reason) {
  const text = `Node-RED has not made this node${reason ? `: ${reason}` : '.'}`
  const fix = reason ? 'Change that in the editor and deploy.' : 'Its log says why: correct that in the editor and deploy.'
  return describe(new SluiceError('SLUICE_NODE_UNSTARTED', text, { fix }))
}

/**
 * Whether the flows run. Node-RED does not say whether all are stopped for good or to be started anew: either way nothing runs meanwhile.
 */
export class Health {
  /** @type {Status} */
  status = 'starting'
  #events
  #nodes
  #stats
  #said

  /**
   * @param {Events} events @param {import('./unstarted.js').Nodes} nodes @param {import('../stats/stats.js').Stats} stats
   * @param {import('./overview/said.js').Said} said
   */
  constructor (events, nodes, stats, said) {
    this.#events = events
    this.#nodes = nodes
    this.#stats = stats
    this.#said = said
    events.on('flows:started', this.#started)
    events.on('flows:stopping', this.#stopping)
  }

  close () {
    this.#events.off('flows:started', this.#started)
    this.#events.off('flows:stopping', this.#stopping)
  }

  /**
   * What keeps the gateway from doing all of its work: what has not started, and what is not connected.
   * @param {Record<string, import('../stats/reader.js').Gauge>} gauges
   * @returns {{name: string, problem: string|null}[]}
   */
  missing (gauges) {
    return [...this.#stats.unstarted.map(node => ({ name: nameOf(node), problem: node.problem })), ...missingOf(gauges)]
  }

  /** @param {import('./unstarted.js').Started} [event] */
  #started = event => {
    this.status = 'running'
    const found = unstartedIn(event, this.#nodes)
    const circle = circlesIn(event, found)
    this.#stats.unstarted = found.map(node => {
      const { id, type, name } = node
      return { id, type, name, problem: unstarted(circle(node) ?? this.#said.of(id)[0]?.text ?? null) }
    })
  }

  /** @param {{type?: string}} event */
  #stopping = ({ type }) => { if (type === 'full') this.status = 'stopping' }
}

/**
 * Of whatever is to be connected, what is not, and the nodes of Sluice that could not start.
 * @param {Record<string, import('../stats/reader.js').Gauge>} gauges
 * @returns {{name: string, problem: string|null}[]}
 */
export function missingOf (gauges) {
  return Object.entries(gauges)
    .filter(([, { connected }]) => connected === false)
    .map(([name, { problem, lastError }]) => ({ name, problem: String(problem || lastError || '') || null }))
}
