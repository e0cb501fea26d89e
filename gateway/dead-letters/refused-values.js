import { Batch } from '../batch/batch.js'
import { nowNs } from '../clock/system-clock.js'
import { deadLetter } from './dead-letter.js'

/**
 * Keeps values that could not even be made into a batch: as text, under the source they came from.
 * @param {import('./queue.js').DeadLetterQueue} queue
 * @param {string} source
 * @param {import('../messages/payload.js').Refused[]} refused
 */
export async function keepRefused (queue, source, refused) {
  await queue.append(refused.map(({ value, reason }) => {
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
