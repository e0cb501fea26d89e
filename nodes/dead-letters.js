import { Batch } from '../gateway/batch/batch.js'
import { nowNs } from '../gateway/batch/clock.js'
import { stores } from '../gateway/flow/dead-letter-stores.js'
import { deadLetter } from '../gateway/writer/dead-letter.js'
import { deadLettersFolder, openDeadLetters } from '../gateway/writer/dead-letters.js'

/**
 * @typedef {import('../gateway/writer/dead-letters.js').DeadLetters} DeadLetters
 * @typedef {import('../gateway/batch/payload.js').Refused} Refused
 */

/**
 * The dead letters kept under a name, visible to the dead letters node while they are open.
 * @param {import('./node.js').RED} RED
 * @param {string} name
 * @param {import('../gateway/sinks/sink.js').Log} log
 * @returns {Promise<{letters: DeadLetters, hide: () => void}>}
 */
export async function openStore (RED, name, log) {
  const letters = await openDeadLetters(deadLettersFolder(RED.settings.userDir, name), { log })
  return { letters, hide: stores.add(name, letters) }
}

/**
 * Keeps values that could not even be made into a batch: as text, under the source they came from.
 * @param {DeadLetters} letters
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
