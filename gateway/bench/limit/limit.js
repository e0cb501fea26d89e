import { Affinity } from './affinity.js'
import { ControlGroup } from './control-group.js'

/**
 * Holds this process, and what it starts meanwhile, back to be like a small machine.
 *
 * @typedef {object} Bounds
 * @property {number} [cores]  a share of one, or several
 * @property {number} [memoryBytes]
 *
 * @typedef {object} Holder  how it is done
 * @property {string} text  a sentence, for the head of a report
 * @property {() => void} enter  this process, with all its threads
 * @property {() => void} leave
 * @property {() => void} remove  while nothing is in it
 */

/** @type {Record<string, number>} */
const UNITS = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }
const MIN_CORES = 0.01
const MIN_MEMORY_BYTES = 64 * 2 ** 20

/**
 * @param {string} text  such as `cores=0.5,memory=512M`
 * @returns {Bounds}
 * @throws {Error} what is wrong with it
 */
export function readBounds (text) {
  /** @type {Bounds} */
  const bounds = {}
  for (const part of text.split(',')) {
    const [, name, number, unit] = /^\s*(cores|memory)=(\d+(?:\.\d+)?)([KMG]?)i?B?\s*$/i.exec(part) ?? []
    if (name?.toLowerCase() === 'cores' && !unit) bounds.cores = Number(number)
    else if (name?.toLowerCase() === 'memory') bounds.memoryBytes = Math.round(Number(number) * UNITS[unit.toUpperCase()])
    else throw new Error(`--limit: "${part}" is not like cores=0.5 or memory=512M`)
  }
  const { cores = MIN_CORES, memoryBytes = MIN_MEMORY_BYTES } = bounds
  if (cores < MIN_CORES) throw new Error(`--limit: under ${MIN_CORES} cores nothing goes on`)
  if (memoryBytes < MIN_MEMORY_BYTES) throw new Error(`--limit: under ${MIN_MEMORY_BYTES / 2 ** 20}M of memory Node.js does not start`)
  return bounds
}

/** A limit that is in force between `begin` and `end`, and not while something goes on `outside` of it. */
export class Limit {
  #holder
  #isWithServers
  #isOn = false
  #outside = 0

  /** @param {Holder} holder @param {{withServers?: boolean}} [options]  `withServers`: those that are started meanwhile, too */
  constructor (holder, { withServers = false } = {}) {
    this.#holder = holder
    this.#isWithServers = withServers
  }

  /** For the first line of a report. */
  get text () {
    const servers = this.#isWithServers ? 'the servers that the bench has started are in it, too' : 'servers are not limited'
    return `${this.#holder.text} In it is the gateway's part: the clients of the bench, or a gateway, and embedded databases; ${servers}.`
  }

  begin () {
    this.#isOn = true
    this.#holder.enter()
  }

  end () {
    if (!this.#isOn) return
    this.#isOn = false
    this.#holder.leave()
    this.#holder.remove()
  }

  /** What this process does meanwhile, and starts, is not limited. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  async outside (work) {
    if (!this.#isOn) return work()
    if (this.#outside++ === 0) this.#holder.leave()
    try {
      return await work()
    } finally {
      if (--this.#outside === 0 && this.#isOn) this.#holder.enter()
    }
  }

  /**
   * The same servers, which are started outside of the limit unless it is for them, too.
   * @param {import('../servers.js').Servers} servers
   * @returns {import('../servers.js').Servers}
   */
  servers (servers) {
    if (this.#isWithServers) return servers
    return name => {
      const type = servers(name)
      return {
        ...type,
        start: async options => {
          const server = await this.outside(() => type.start(options))
          const { start } = server
          return start ? { ...server, start: () => this.outside(start) } : server
        }
      }
    }
  }
}

/** @param {Bounds} bounds */
const ofGroup = bounds => new ControlGroup(bounds)
/** @param {Bounds} bounds @param {{why: string}} options */
const ofAffinity = (bounds, options) => new Affinity(bounds, options)

/**
 * The best way that this machine allows: a control group, or else fewer cores, which is said with its factor.
 * @param {Bounds} bounds
 * @param {{makeGroup?: (bounds: Bounds) => Holder, makeAffinity?: (bounds: Bounds, options: {why: string}) => Holder}} [options]
 * @returns {Holder}
 * @throws {import('../../base/errors.js').SluiceError} SLUICE_BENCH_LIMIT where there is neither
 */
export function holderFor (bounds, { makeGroup = ofGroup, makeAffinity = ofAffinity } = {}) {
  try {
    return makeGroup(bounds)
  } catch (error) {
    return makeAffinity(bounds, { why: error instanceof Error ? error.message : String(error) })
  }
}
