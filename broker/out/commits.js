import { describe } from '../../gateway/base/errors.js'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { readCommit } from '../control-messages.js'
import { sinkKey } from './required-sinks.js'

/** @typedef {import('../control-messages.js').Commit} Commit */

/**
 * What the sinks say that their databases have: passed on to the spool, which believes what it can verify. Until the broker has been heard,
 * and the sink is required, the last word of each waits.
 */
export class Commits {
  #isReady = false
  /** @type {Map<string, Commit>} by key */
  #waiting = new Map()
  /** What was last passed on. @type {Map<string, Commit>} by key */
  #last = new Map()
  #options

  /**
   * @param {object} options
   * @param {string} options.gateway
   * @param {import('../spool/spool.js').Spool} options.spool
   * @param {import('./required-sinks.js').RequiredSinks} options.requiredSinks
   * @param {import('./alarms.js').Alarms} options.alarms
   * @param {() => void} options.onDoubt
   * @param {import('./restaging.js').Restaging} options.restaging
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

  /** From a sink of this process. @param {import('../local-commits.js').LocalCommit} local */
  hearLocal ({ consumer, sink, commit }) {
    this.#waiting.set(sinkKey(consumer, sink), commit)
    this.#catchUp()
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
      this.#waiting.set(key, readCommit(payload))
      this.#catchUp()
    } else if (this.#isReady) {
      alarms.raise('strangers', 'SLUICE_STRANGER', `A commit came from ${key}, for which nothing is kept. It is ignored.`)
    }
  }

  #catchUp = () => {
    if (!this.#isReady) return
    for (const [key, commit] of this.#waiting) {
      if (!this.#isRequired(key)) continue
      this.#waiting.delete(key)
      this.#pass(key, commit)
    }
  }

  #forget = (/** @type {string} */ key) => {
    this.#last.delete(key)
    this.#options.spool.forget(key)
  }

  /** @param {string} key */
  #isRequired (key) {
    return this.#options.requiredSinks.all.some(sink => sink.key === key)
  }

  /** @param {string} key @param {Commit} commit */
  async #pass (key, commit) {
    const { spool, requiredSinks, onDoubt, log } = this.#options
    try {
      if (hasRanges(commit)) requiredSinks.committed(key)
      this.#compare(key, commit)
      const { doubts, clashes } = await spool.confirm(key, { store: commit.store, epochs: commit.sources })
      if (doubts.length > 0) onDoubt()
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

  /** Whether a database has less than it had, or is another one. @param {string} key @param {Commit} commit */
  #compare (key, commit) {
    const { alarms, spool } = this.#options
    const last = this.#last.get(key)
    this.#last.set(key, commit)
    if (!last) return
    const name = `"${commit.label}" (${key})`
    if (last.store !== commit.store) {
      alarms.raise('setBack', 'SLUICE_SET_BACK', `${name} has another database than before. What it lacks is sent again.`)
    } else if (lacks(commit, last, spool.head)) {
      alarms.raise('setBack', 'SLUICE_SET_BACK', `The database of ${name} has less than before. What it lacks is sent again.`)
    }
  }
}

/** @param {Commit} commit */
function hasRanges ({ sources }) {
  return Object.values(sources).some(epochs => Object.values(epochs).some(ranges => ranges.length > 0))
}

/**
 * Whether a commit lacks something of what is held that the one before had.
 * @param {Commit} commit
 * @param {Commit} before
 * @param {import('../spool/spool.js').Spool['head']} head
 */
function lacks (commit, before, head) {
  return head.sources.some(({ source, epochs }) => epochs.some(({ epoch, first, last }) => {
    const now = new RangeSet(pairs(commit.sources[source]?.[epoch]))
    return pairs(before.sources[source]?.[epoch]).some(([from, to]) => {
      return now.missing(Math.max(from, first), Math.min(to, last)).length > 0
    })
  }))
}

/** @param {import('../control-messages.js').SummedRange[]} [ranges] @returns {[number, number][]} */
function pairs (ranges = []) {
  return ranges.map(([first, last]) => [first, last])
}
