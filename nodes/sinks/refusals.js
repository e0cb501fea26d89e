import { SluiceError } from '../../gateway/base/errors.js'
import { QuietLog } from '../../gateway/base/log.js'
import { refusal } from '../staging/stage-out.js'

/** What a sink says of messages that it cannot store. */

/** What names a source in messages for the node that a sink replaces. @type {Record<string, string>} */
const SOURCES = { influxdb: 'msg.measurement or msg.topic', mongodb: 'msg.collection or msg.topic' }

/** What to do about rows without a source. @param {any} schema  of the node @param {string} sinkType */
export function sourceFixOf ({ properties: { table } }, sinkType) {
  const place = table ? `, or a ${table.title} without {source} in the form of this node` : ''
  return `set ${SOURCES[sinkType] ?? 'msg.topic'}${place}`
}

/** Each cause is said at once, and then seldom: what is refused is kept and counted each time. */
export class Refusing {
  #said = new QuietLog(undefined, () => performance.now())

  /**
   * @param {import('../../gateway/messages/payload.js').Refused[]} refused
   * @throws {SluiceError} SLUICE_PAYLOAD where this cause is to be said
   */
  say (refused) {
    const { code, message, details } = refusal(refused)
    const due = this.#said.due(causeOf(refused[0].reason), message)
    if (due !== null) throw new SluiceError(code, due, { details })
  }
}

/** What makes refusals the same: their reason, whatever the value. @param {string} reason */
function causeOf (reason) {
  return reason.replace(/"[^"]*"|\d+/g, '…')
}
