/**
 * @typedef {'starting'|'running'|'stopping'} Status
 * @typedef {{on: (event: string, listener: (event: any) => void) => void, off: (event: string, listener: (event: any) => void) => void}}
 *   Events  of Node-RED
 */

/**
 * Whether the flows run. Node-RED does not say whether all are stopped for good or to be started anew: either way nothing runs meanwhile.
 */
export class Health {
  /** @type {Status} */
  status = 'starting'
  #events

  /** @param {Events} events */
  constructor (events) {
    this.#events = events
    events.on('flows:started', this.#started)
    events.on('flows:stopping', this.#stopping)
  }

  close () {
    this.#events.off('flows:started', this.#started)
    this.#events.off('flows:stopping', this.#stopping)
  }

  #started = () => { this.status = 'running' }

  /** @param {{type?: string}} event */
  #stopping = ({ type }) => { if (type === 'full') this.status = 'stopping' }
}

/**
 * What keeps the gateway from doing all of its work: of whatever is to be connected, what is not, and the nodes that could not start.
 * @param {Record<string, import('../stats/reader.js').Gauge>} gauges
 * @returns {{name: string, problem: string|null}[]}
 */
export function missingOf (gauges) {
  return Object.entries(gauges)
    .filter(([, { connected }]) => connected === false)
    .map(([name, { problem, lastError }]) => ({ name, problem: String(problem || lastError || '') || null }))
}
