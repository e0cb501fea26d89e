import { describe, SluiceError } from '../base/errors.js'
import { nameOf, unstartedIn } from './unstarted.js'

/**
 * @typedef {'starting'|'running'|'stopping'} Status
 * @typedef {{on: (event: string, listener: (event: any) => void) => void, off: (event: string, listener: (event: any) => void) => void}}
 *   Events  of Node-RED
 */

const UNSTARTED = describe(new SluiceError('SLUICE_NODE_UNSTARTED', 'Node-RED has not made this node.', {
  fix: 'Its log says why, as where config nodes need each other: correct that in the editor and deploy.'
}))

/**
 * Whether the flows run. Node-RED does not say whether all are stopped for good or to be started anew: either way nothing runs meanwhile.
 */
export class Health {
  /** @type {Status} */
  status = 'starting'
  #events
  #nodes
  #stats

  /** @param {Events} events @param {import('./unstarted.js').Nodes} nodes @param {import('../stats/stats.js').Stats} stats */
  constructor (events, nodes, stats) {
    this.#events = events
    this.#nodes = nodes
    this.#stats = stats
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
    this.#stats.unstarted = unstartedIn(event, this.#nodes).map(({ id, type, name }) => ({ id, type, name, problem: UNSTARTED }))
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
