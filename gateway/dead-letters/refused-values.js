import { inspect } from 'node:util'
import { Batch } from '../batch/batch.js'
import { nowNs } from '../clock/system-clock.js'
import { deadLetter } from './dead-letter.js'
import { shareFull } from './queue.js'

/**
 * Values that could not even be made into a batch become dead letters: as text, under the source they came from.
 *
 * @typedef {import('./queue.js').DeadLetterQueue} DeadLetterQueue
 * @typedef {import('../messages/refusals.js').Refused} Refused
 */

/** What is kept of a value at most, in characters. */
const MAX_CHARACTERS = 64 * 1024

/**
 * Keeps all of them, whatever they take: what they came with comes again otherwise.
 * @param {DeadLetterQueue} queue
 * @param {string} source
 * @param {Refused[]} refused
 * @throws {import('../base/errors.js').SluiceError} SLUICE_DEAD_LETTERS_SHARE where the source has had its share
 */
export async function keepRefused (queue, source, refused) {
  const stopped = await queue.append(refused.map(({ value, reason }) => letterOf(source, textOf(value), reason)))
  if (stopped.has(source)) throw shareFull(source)
}

/**
 * Keeps what there is room for, the beginning of long ones: garbage that nobody sends again must not stop what is good.
 * @param {DeadLetterQueue} queue
 * @param {string} source
 * @param {Refused[]} refused
 * @returns {Promise<number>} how many were not kept
 */
export async function offerRefused (queue, source, refused) {
  const letters = refused.map(({ value, reason }) => {
    const text = textOf(value instanceof Uint8Array ? value.subarray(0, MAX_CHARACTERS + 1) : value)
    if (text.length <= MAX_CHARACTERS) return letterOf(source, text, reason)
    const length = value instanceof Uint8Array ? value.length : text.length
    const why = `${reason} (kept: the first ${MAX_CHARACTERS} of ${length} characters, which cannot be replayed)`
    return { ...letterOf(source, text.slice(0, MAX_CHARACTERS), why), truncatedFrom: length }
  })
  const kept = await queue.offer(letters)
  return refused.reduce((sum, { count = 1 }, i) => sum + (kept.has(letters[i].key) ? 0 : count), 0)
}

/** @param {string} source @param {string} text @param {string} reason */
function letterOf (source, text, reason) {
  const batch = new Batch({
    source,
    time: new BigInt64Array([nowNs()]),
    fields: [{ name: 'payload', type: 'string' }],
    columns: [[text]]
  })
  return deadLetter(batch, 0, new Error(reason))
}

/** @param {unknown} value */
function textOf (value) {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1')
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value, (_key, inner) => typeof inner === 'bigint' || Number.isNaN(inner) ? String(inner) : inner) ?? String(value)
  } catch { // it holds itself, or is too deep
    return inspect(value)
  }
}
