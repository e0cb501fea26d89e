import { Batch } from '../gateway/batch/batch.js'
import { nowNs } from '../gateway/clock/system-clock.js'
import { openQueues } from '../gateway/dead-letters/open-queues.js'
import { deadLetter } from '../gateway/dead-letters/dead-letter.js'
import { deadLettersFolder, openDeadLetterQueue } from '../gateway/dead-letters/queue.js'

/**
 * @typedef {import('../gateway/dead-letters/queue.js').DeadLetterQueue} DeadLetterQueue
 * @typedef {import('../gateway/messages/payload.js').Refused} Refused
 */

/**
 * The dead letters kept under a name, visible to the dead letters node while they are open.
 * @param {import('./node.js').RED} RED
 * @param {string} name
 * @param {import('../gateway/base/log.js').Log} log
 * @returns {Promise<{letters: DeadLetterQueue, hide: () => void}>}
 */
export async function openStore (RED, name, log) {
  const letters = await openDeadLetterQueue(deadLettersFolder(RED.settings.userDir, name), { log })
  return { letters, hide: openQueues.add(name, letters) }
}

/**
 * Keeps values that could not even be made into a batch: as text, under the source they came from.
 * @param {DeadLetterQueue} letters
 * @param {string} source
 * @param {Refused[]} refused
 */
export async function keepRefused (letters, source, refused) {
  await letters.append(refused.map(({ value, reason }) => {
    const batch = new Batch({
      source,
      time: new BigInt64Array([nowNs()]),
      fields: [{ name: 'payload', type: 'string' }],
      columns: [[textOf(value)]]
    })
    return deadLetter(batch, 0, new Error(reason))
  }))
}

/** @param {unknown} value */
function textOf (value) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1')
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value, (_key, inner) => typeof inner === 'bigint' || Number.isNaN(inner) ? String(inner) : inner) ?? String(value)
  } catch {
    return String(value)
  }
}
