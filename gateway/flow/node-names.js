import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { PRIVATE_FOLDER, replaceFileSync } from '../base/files.js'

/**
 * What people read of nodes: in the stats, on the live page, in logs. A node is known by its id, and what it keeps on disk, in databases
 * and on brokers has other names, which never change; see `nodes/sinks/wired.js`.
 *
 * @typedef {{id: string, type: string, name?: string, usual?: string}} NamedNode  `usual`: what it is called without a name
 */

const FILE = 'node-names.json'
export const SOURCES_FILE = 'source-names.json'
/** Node-RED makes such ids, and joins them for what is in a subflow; whoever writes a flow by hand gives ids that can be read. */
const GENERATED_ID = /(?:^|-)(?:[0-9a-f]{16}|[0-9a-f]{5,8}\.[0-9a-f]{4,6})(?:-|$)/

/**
 * The names given to nodes that have none of their own, or one that another has: "postgresql", "postgresql 2". A node keeps its number as
 * long as it is in the flows, whatever is added before it or deleted: a series of a metric is of one sink.
 */
export class NodeNames {
  #folder
  #file
  /** Those given, by id. @type {Record<string, string>} */
  #given

  /** @param {string} folder  of the gateway's data @param {string} [file]  in it */
  constructor (folder, file = FILE) {
    this.#folder = folder
    this.#file = file
    this.#given = readNodeNames(folder, file)
  }

  /**
   * @param {NamedNode[]} nodes  all of a kind among which a name is to be of one alone, in the order of the flows
   * @returns {Map<string, string>} by id
   */
  of (nodes) {
    const wishes = new Map(nodes.map(node => [node.id, wishOf(node)]))
    const names = new Map()
    const taken = new Set()
    const give = (/** @type {string} */ id, /** @type {string} */ name) => {
      if (names.has(id) || taken.has(name)) return
      names.set(id, name)
      taken.add(name)
    }
    for (const [id, wish] of wishes) if (isNumbered(this.#given[id], wish)) give(id, this.#given[id])
    for (const { id, name } of nodes) if (name?.trim()) give(id, name.trim())
    for (const [id, wish] of wishes) {
      for (let number = 1; !names.has(id); number++) give(id, number === 1 ? wish : `${wish} ${number}`)
    }
    return names
  }

  /** What is kept for the next start, and for the command line. @param {Map<string, string>} names  of all nodes */
  keep (names) {
    const given = Object.fromEntries(names)
    if (isDeepStrictEqual(given, this.#given)) return
    this.#given = given
    try {
      mkdirSync(this.#folder, { recursive: true, mode: PRIVATE_FOLDER })
      replaceFileSync(join(this.#folder, this.#file), JSON.stringify(given))
    } catch {
      // A disk that is full stops no sink: what stands in the place of a name is a number.
    }
  }
}

/** @param {string} folder  of the gateway's data @param {string} [file]  in it @returns {Record<string, string>} by the ids of nodes */
export function readNodeNames (folder, file = FILE) {
  try {
    return Object(JSON.parse(readFileSync(join(folder, file), 'utf8')))
  } catch {
    return {} // it is not there yet, or damaged: they are given anew
  }
}

/**
 * What people read of a sink whose folder of dead letters is called by the id of its node.
 * @param {string} folder  of the gateway's data
 * @returns {(key: string) => string}
 */
export function folderNames (folder) {
  const names = Object.entries(readNodeNames(folder))
  return key => {
    for (const [id, name] of names) {
      if (key === id || key === `${id} (refused)`) return key.replace(id, name)
      if (key.endsWith(` (${id})`)) return name
    }
    return key
  }
}

/** @param {NamedNode} node */
function wishOf ({ id, type, name, usual }) {
  return name?.trim() || usual || (GENERATED_ID.test(id) ? type.replace(/^sluice-/, '').replaceAll('-', ' ') : id)
}

/** @param {string|undefined} name @param {string} wish */
function isNumbered (name, wish) {
  return name === wish || (name?.startsWith(`${wish} `) && /^[1-9]\d*$/.test(name.slice(wish.length + 1)))
}
