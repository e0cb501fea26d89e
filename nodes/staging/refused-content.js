import { retryWhile } from '../../gateway/base/backoff.js'
import { describe } from '../../gateway/base/errors.js'
import { QuietLog } from '../../gateway/base/log.js'
import { offerRefused } from '../../gateway/dead-letters/refused-values.js'
import { countOf } from '../../gateway/messages/refusals.js'

/** What third-party messages have that cannot be stored: it goes to the dead letters, or is counted where those have no room. */
export class RefusedContent {
  #queue
  #meter
  #log
  #isClosed = false

  /**
   * @param {import('../../gateway/dead-letters/queue.js').DeadLetterQueue} queue
   * @param {import('../../gateway/stats/meter.js').Meter} meter
   * @param {import('../../gateway/base/log.js').Log} log
   */
  constructor (queue, meter, log) {
    this.#queue = queue
    this.#meter = meter
    this.#log = new QuietLog(log, () => performance.now())
  }

  /**
   * @param {string} topic @param {import('../../gateway/messages/refusals.js').Refused[]} refused
   * @param {() => void} kept  called once they are kept, or counted
   */
  async keep (topic, refused, kept) {
    const unkept = await retryWhile(() => !this.#isClosed, () => offerRefused(this.#queue, topic, refused), error => {
      this.#log.say('warn', 'dead letters', `What a message on ${topic} has refused cannot be kept: ${describe(error)}`)
    })
    if (unkept === undefined) return
    kept()
    const count = countOf(refused)
    this.#meter.errors += count
    this.#meter.dropped += unkept
    const values = `${count} refused ${count === 1 ? 'value' : 'values'} of a message on ${topic}`
    const what = unkept === 0 ? `Kept ${values}` : `The dead letters have no room: ${unkept} of ${values} were only counted`
    const [{ reason }] = refused
    this.#log.say('warn', unkept === 0 ? `${topic}: ${reason}` : 'no room', `SLUICE_MESSAGE: ${what}: ${reason}`)
  }

  /** Nothing is tried again. */
  close () { this.#isClosed = true }
}
