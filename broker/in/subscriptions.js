import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makePrivateFolder, replaceFile } from '../../gateway/base/files.js'
import { isForTopic } from '../topics.js'

/**
 * @typedef {object} Generation  topic filters that are subscribed to together, until they are edited
 * @property {number} number  0, 1, …
 * @property {string[]} filters  those of the generation before first, in its order
 */

const SHARED = '$share/'
const MAX_GENERATIONS = 100

/**
 * The topic filters of a session, and those it had before they were edited: a broker names with each message the subscription that it was
 * published under, and what waits there was published under the former ones. They are in a small file before they are subscribed to. (In
 * a new session nothing waits that was published under former ones, so they need not be forgotten.)
 *
 * Where filters overlap, a broker sends a message once for each: the one for the first of its generation is meant, whatever the filters are
 * by now. As those that stay come first, that is the same one while the broker is told of new filters.
 */
export class Subscriptions {
  /** The last is the present one. @type {Generation[]} */
  #generations

  /** @param {Generation[]} generations */
  constructor (generations) {
    this.#generations = generations
  }

  /** @param {string} path  of the file @param {string[]} filters  the present ones */
  static async open (path, filters) {
    const former = await read(path)
    const last = former.at(-1)
    const kept = last?.filters.filter(filter => filters.includes(filter)) ?? []
    if (last && kept.length === filters.length && kept.length === last.filters.length) return new Subscriptions(former)
    const added = filters.filter(filter => !kept.includes(filter))
    const generations = [...former, { number: last ? last.number + 1 : 0, filters: [...kept, ...added] }].slice(-MAX_GENERATIONS)
    await makePrivateFolder(dirname(path))
    await replaceFile(path, JSON.stringify(generations))
    return new Subscriptions(generations)
  }

  /** In the order in which they are to be subscribed to. */
  get filters () { return this.#present.filters }

  /** Former filters, to be unsubscribed from before. */
  get gone () {
    const former = new Set(this.#generations.flatMap(({ filters }) => filters))
    return [...former].filter(filter => !this.filters.includes(filter))
  }

  /** Comes back with what is sent for a filter. @param {string} filter */
  identifierOf (filter) { return identifierOf(this.#present, filter) }

  /** The subscriptions of which the messages of a topic are accepted: none where no present filter is for it. @param {string} topic */
  identifiersFor (topic) {
    if (!this.filters.some(filter => isForTopic(filter, topic))) return []
    return this.#generations.flatMap(generation => meantOf(generation, topic).map(filter => identifierOf(generation, filter)))
  }

  get #present () { return this.#generations[this.#generations.length - 1] }
}

/**
 * A shared subscription's messages go to one of many clients, so it is not relied on where another filter matches as well.
 * @param {Generation} generation @param {string} topic
 */
function meantOf ({ filters }, topic) {
  const matching = filters.filter(filter => isForTopic(filter, topic))
  const own = matching.find(filter => !filter.startsWith(SHARED))
  return own ? [own] : matching
}

/** @param {Generation} generation @param {string} filter @returns {number} 1 … 2²⁸ - 1 */
function identifierOf ({ number }, filter) {
  const name = number === 0 ? filter : `${number} ${filter}` // sessions are there that began without a file: they have the filter alone
  return createHash('sha256').update(name).digest().readUInt32BE() % (2 ** 28 - 1) + 1
}

/** @param {string} path @returns {Promise<Generation[]>} */
async function read (path) {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (error) { // a damaged one tells nothing
    if (error instanceof SyntaxError || /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return []
    throw error
  }
}
