import { describe } from '../../gateway/base/errors.js'
import { MAX_CONTROL_SOURCES, readCommit } from '../control-messages.js'
import { sinkKey } from './required-sinks.js'

/** @typedef {import('../control-messages.js').Commit & {outcomes?: import('../local.js').Outcomes}} Commit */

/**
 * What the sinks say that their databases have: passed on to the spool, which believes what it can verify. Until the broker has been heard,
 * and the sink is required, the last word of each on each source waits.
 */
export class Commits {
  #isReady = false
  /** @type {Map<string, Map<string, Commit>>} by key and source */
  #waiting = new Map()
  #options

  /**
   * @param {object} options
   * @param {string} options.gateway
   * @param {import('../spool/spool.js').Spool} options.spool
   * @param {import('./required-sinks.js').RequiredSinks} options.requiredSinks
   * @param {import('./alarms.js').Alarms} options.alarms
   * @param {() => void} options.onDoubt
   * @param {import('./restaging.js').Restaging} options.restaging
   * @param {import('./delivered.js').Delivered} options.delivered
   * @param {import('../../gateway/base/log.js').Log} options.log
   */
  constructor (options) {
    this.#options = options
    options.requiredSinks.on('changed', this.#catchUp)
    options.requiredSinks.on('removed', this.#forget)
  }

  close () {
    const { requiredSinks } = this.#options
    requiredSinks.off('changed', this.#catchUp)
    requiredSinks.off('removed', this.#forget)
  }

  start () {
    this.#isReady = true
    this.#catchUp()
  }

  stop () {
    this.#isReady = false
  }

  /** From a sink of this process. @param {import('../local.js').LocalCommit} local */
  hearLocal ({ consumer, sink, commit, outcomes }) {
    this.#wait(sinkKey(consumer, sink), { ...commit, outcomes })
  }

  /**
   * From the broker, where anybody may have said it.
   * @param {string} consumer
   * @param {string} sink
   * @param {Buffer} payload
   */
  hear (consumer, sink, payload) {
    const { gateway, alarms } = this.#options
    const key = sinkKey(consumer, sink)
    if (consumer === gateway) {
      const text = `A commit of "${sink}" in the name of this gateway came over the broker. It is ignored.`
      alarms.raise('strangers', 'SLUICE_STRANGER', text)
    } else if (this.#isRequired(key)) {
      this.#wait(key, readCommit(payload))
    } else if (this.#isReady) {
      alarms.raise('strangers', 'SLUICE_STRANGER', `A commit came from ${key}, for which nothing is kept. It is ignored.`)
    }
  }

  /** @param {string} key @param {Commit} commit */
  #wait (key, commit) {
    const waiting = this.#waiting.get(key) ?? new Map()
    this.#waiting.set(key, waiting)
    for (const source of Object.keys(commit.sources)) waiting.set(source, commit)
    for (const source of [...waiting.keys()].slice(MAX_CONTROL_SOURCES)) waiting.delete(source) // it will be said again
    this.#catchUp()
  }

  #catchUp = () => {
    if (!this.#isReady) return
    for (const [key, waiting] of this.#waiting) {
      if (!this.#isRequired(key)) continue
      this.#waiting.delete(key)
      for (const commit of new Set(waiting.values())) {
        const sources = Object.entries(commit.sources).filter(([source]) => waiting.get(source) === commit)
        this.#pass(key, { ...commit, sources: Object.fromEntries(sources) })
      }
    }
  }

  #forget = (/** @type {string} */ key) => { this.#options.spool.forget(key) }

  /** @param {string} key */
  #isRequired (key) {
    return this.#options.requiredSinks.all.some(sink => sink.key === key)
  }

  /** @param {string} key @param {Commit} commit */
  async #pass (key, commit) {
    const { spool, requiredSinks, onDoubt, alarms, delivered, log } = this.#options
    try {
      if (hasRanges(commit)) requiredSinks.committed(key)
      const { store, label, reading, sources: epochs, outcomes } = commit
      const { doubts, lasting, clashes, isOther, isLess } = await spool.confirm(key, { store, reading, epochs, outcomes })
      const loss = isOther ? 'is another one than before' : 'has less than before'
      delivered.stored(key.split('/')[0], epochs)
      if (isOther || isLess) {
        alarms.raise('setBack', 'SLUICE_SET_BACK', `The database of "${label}" (${key}) ${loss}. What it lacks is sent again.`, 1, key)
      }
      if (doubts.length > 0) onDoubt()
      if (lasting.length > 0) {
        const [{ source, epoch, first, last }] = lasting
        const text = `What "${label}" (${key}) has stored as ${epoch}/${first}…${last} of "${source}" is not what is here. It is kept.`
        alarms.raise('doubts', 'SLUICE_DOUBT', text, lasting.length)
      }
      if (clashes.length > 0) await this.#clash(key, commit, clashes)
    } catch (error) {
      log.error(`What "${commit.label}" has stored cannot be made use of: ${describe(error)}`)
    }
  }

  /** @param {string} key @param {Commit} commit @param {import('../spool/spool.js').Place[]} clashes */
  async #clash (key, { label }, clashes) {
    const { restaging, alarms } = this.#options
    const [{ source, epoch, seq }] = clashes
    const text = `The sink "${label}" (${key}) has stored another batch as ${epoch}/${seq} of "${source}". Ours is staged again.`
    alarms.raise('clashes', 'SLUICE_CLASH', text, clashes.length)
    await restaging.restage(clashes)
  }
}

/** @param {Commit} commit */
function hasRanges ({ sources }) {
  return Object.values(sources).some(epochs => Object.values(epochs).some(ranges => ranges.length > 0))
}
