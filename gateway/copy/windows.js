import { hash } from 'node:crypto'
import { RangeSet } from '../batch/ranges.js'

/**
 * A stretch of time is copied in windows, each of them one batch. Its identity says all there is to know of the copy, so the target's own
 * commit records tell what has been copied, whoever asks: nothing else keeps count.
 *
 * - gateway: `copy-` and a hash of the database and table that is read;
 * - epoch: `0-<since>.<until>.<length of a window>`, in nanoseconds;
 * - seq: 0 is of no rows, and says that there is such a copy; 1, 2, … are its windows.
 *
 * @typedef {import('../databases/sink.js').CommitRecord} CommitRecord
 * @typedef {{since: bigint, until: bigint, windowNs: bigint}} Plan  from since to before until
 */

const SECOND_NS = 1_000_000_000n
const MINUTE_NS = 60n * SECOND_NS

/** How long a window may be. */
const LENGTHS_NS = [
  1_000_000n, 10_000_000n, 100_000_000n, SECOND_NS, 10n * SECOND_NS, MINUTE_NS, 10n * MINUTE_NS, 60n * MINUTE_NS, 360n * MINUTE_NS,
  1440n * MINUTE_NS
]
/** The fullest window should have no more values: a transaction of it is neither tiny nor long. */
const WINDOW_VALUES = 50_000

const EPOCH = /^0-(\d+)\.(\d+)\.(\d+)$/

/** @param {string} store  the id of the database @param {string} table  in which it has the source */
export function copyGateway (store, table) {
  return `copy-${hash('sha256', JSON.stringify([store, table])).slice(0, 16)}`
}

/** Whether a gateway is a copy. @param {string} gateway */
export function isCopy (gateway) {
  return /^copy-[0-9a-f]{16}$/.test(gateway)
}

/**
 * With the longest windows that are not too full, wherever rows come in bursts.
 * @param {bigint} since
 * @param {bigint} until
 * @param {(lengthNs: bigint) => Promise<number>} fullest  how many values there are in the fullest stretch of this length
 * @returns {Promise<Plan>}
 */
export async function planFor (since, until, fullest) {
  for (let windowNs = LENGTHS_NS[LENGTHS_NS.length - 1]; ;) {
    const values = await fullest(windowNs)
    if (values <= WINDOW_VALUES || windowNs === LENGTHS_NS[0]) return { since, until, windowNs }
    // No shorter one than it would be were they spread evenly.
    const longest = windowNs * BigInt(WINDOW_VALUES) / BigInt(values)
    windowNs = LENGTHS_NS.findLast(lengthNs => lengthNs <= longest) ?? LENGTHS_NS[0]
  }
}

/** @param {Plan} plan */
export function epochOf ({ since, until, windowNs }) {
  return `0-${since}.${until}.${windowNs}`
}

/** The seq of the window that a time is in. @param {Plan} plan @param {bigint} time */
export function seqAt ({ since, windowNs }, time) {
  return Number((time - since) / windowNs) + 1
}

/** The window's end, which is not in it. @param {Plan} plan @param {number} seq */
export function endOf ({ since, until, windowNs }, seq) {
  const end = since + BigInt(seq) * windowNs
  return end < until ? end : until
}

/**
 * What has been copied of a source, by plan.
 * @param {CommitRecord[]} records  that the target has of it
 * @param {string} gateway
 * @returns {{plan: Plan, done: RangeSet, rows: number}[]} `done`: seqs
 */
export function copiesIn (records, gateway) {
  const own = records.filter(record => record.gateway === gateway)
  return Array.from(Map.groupBy(own, ({ epoch }) => epoch)).flatMap(([epoch, its]) => {
    const [, since, until, windowNs] = EPOCH.exec(epoch) ?? []
    if (since === undefined) return []
    return {
      plan: { since: BigInt(since), until: BigInt(until), windowNs: BigInt(windowNs) },
      done: new RangeSet(its.map(({ first, last }) => [first, last])),
      rows: its.reduce((sum, { stored }) => sum + stored, 0)
    }
  })
}
