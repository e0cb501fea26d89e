/**
 * What should never happen, and what somebody may have to look into: counted, each kind logged at once and then now and then.
 *
 * @typedef {'clashes'|'setBack'|'strangers'|'impossible'|'tooBig'|'doubts'} Alarm
 *   `clashes`: another batch has the identity of one of ours, or another gateway that of this one; `setBack`: a database has less than
 *   before; `strangers`: messages under names that are not theirs; `impossible`: messages that make no sense, or exceed their bounds;
 *   `tooBig`: rows that no broker passes on; `doubts`: what a database is said to have cannot be verified, however often it is asked for
 */

const SILENCE_MS = 60_000

export class Alarms {
  /** @type {Record<Alarm, number>} */
  counts = { clashes: 0, setBack: 0, strangers: 0, impossible: 0, tooBig: 0, doubts: 0 }
  /** When something is logged again. @type {Map<string, number>} */
  #silentUntil = new Map()

  /** @param {import('../../gateway/base/log.js').Log} log */
  constructor (log) {
    this.log = log
  }

  /**
   * @param {Alarm} kind
   * @param {`SLUICE_${string}`} code
   * @param {string} text
   * @param {number} [count]
   * @param {string} [about]  each of these is logged at once
   */
  raise (kind, code, text, count = 1, about = '') {
    this.counts[kind] += count
    const now = performance.now()
    const what = `${kind} ${about}`
    if (now < (this.#silentUntil.get(what) ?? 0)) return
    this.#silentUntil.set(what, now + SILENCE_MS)
    this.log.warn(`${code}: ${text}`)
  }
}
