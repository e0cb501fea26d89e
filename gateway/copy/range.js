import { SluiceError } from '../base/errors.js'
import { formatTime } from '../batch/time.js'
import { isBehind } from './staged.js'
import { isCopy } from './windows.js'

/**
 * From when to when a source is copied.
 *
 * @typedef {import('../databases/reader.js').Reader} Reader
 * @typedef {import('./windows.js').Plan} Plan
 */

/** All times that a row may have. */
export const ALWAYS = { from: 0n, to: 2n ** 63n - 1n }

/**
 * From where to where; null where there is nothing to copy.
 * @param {object} about
 * @param {import('./copy.js').From} about.from
 * @param {import('./copy.js').To} about.to
 * @param {string} about.source
 * @param {string[]} about.sensors
 * @param {ReturnType<typeof import('./windows.js').copiesIn>} about.copies
 * @param {import('./windows.js').CommitRecord[]} about.records  that the target has of the source
 * @param {import('./copy.js').Wish} about.wish
 * @returns {Promise<{since: bigint, until: bigint}|null>}
 */
export async function rangeOf ({ from, to, source, sensors, copies, records, wish }) {
  const last = copies.at(-1)?.plan
  const since = wish.since ?? last?.since ?? await firstTime(from.reader, sensors)
  if (since === null) return null
  const until = wish.until ?? last?.until ?? await firstOwn(to, source, sensors, records)
  const overlapping = copies.find(({ plan }) => {
    const isSame = plan.since === since && plan.until === until
    return !isSame && plan.since < until && since < plan.until
  })
  if (overlapping) throw overlap(source, overlapping.plan)
  return since < until ? { since, until } : null
}

/**
 * The first row that the target has stored itself, where nothing else was copied to it.
 * @param {import('./copy.js').To} to
 * @param {string} source
 * @param {string[]} sensors
 * @param {import('./windows.js').CommitRecord[]} records
 */
async function firstOwn ({ reader, staged }, source, sensors, records) {
  const { true: copied = [], false: live = [] } = Object.groupBy(records, ({ gateway }) => `${isCopy(gateway)}`)
  if (copied.some(({ stored }) => stored > 0)) throw copiedBefore(source)
  const first = live.some(({ stored }) => stored > 0) && reader ? await firstTime(reader, sensors) : null
  if (first === null) throw noUntil(source)
  if (isBehind(live, await staged())) throw behind(source)
  return first
}

/** @param {Reader} reader @param {string[]} sensors @returns {Promise<bigint|null>} */
async function firstTime (reader, sensors) {
  if (reader.columns && (await reader.columns()).length === 0) return null
  for await (const [first] of reader.samples({ ...ALWAYS, sensors, pageRows: 1 })) return first.time
  return null
}

/** @param {string} source */
function noUntil (source) {
  return new SluiceError('SLUICE_COPY_RANGE', `"${source}": it is not known until when to copy, as the target has no rows of its own.`, {
    fix: 'Have the gateway store there first, so that no row comes both ways; or say --until, where it never will.'
  })
}

/** @param {string} source */
function copiedBefore (source) {
  const message = `"${source}": it is not known until when to copy, as the target has rows that were copied from another place.`
  return new SluiceError('SLUICE_COPY_RANGE', message, {
    fix: 'Go on copying from there: a file that was moved, or a table that was renamed, is another place. Or say --until.'
  })
}

/** @param {string} source @param {Plan} plan */
function overlap (source, { since, until }) {
  return new SluiceError('SLUICE_COPY_RANGE', `"${source}": a part of that has been copied already, or been begun.`, {
    fix: `Leave out --since and --until to go on with that, or use --since ${formatTime(until)} or --until ${formatTime(since)}.`
  })
}

/** @param {string} source */
function behind (source) {
  return new SluiceError('SLUICE_COPY_BEHIND', `"${source}": the target has not caught up yet: it lacks batches that are on their way.`, {
    fix: 'Wait until the balance on the live page has nothing in flight, or say --until.'
  })
}
