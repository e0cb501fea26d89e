import { UPSERT } from '../upsert/layout.js'
import { isOwnId } from './collections.js'
import { WRITE_CONCERN } from './insert.js'

const NS_PER_MS = 1_000_000n
const DAY_SECONDS = 86_400

/** Layouts without exact times. */
const OF_MILLISECONDS = ['paper-individual', 'paper-bulk', 'timeseries']

/**
 * Documents that have become too old. A TTL index would be a second one on time, and FerretDB has none; only a time-series collection is
 * told how long to keep them.
 * @param {import('mongodb').Db} db
 * @param {string} name  of the collection
 * @param {string[]|null} sources  null: all that are in it
 * @param {{layout: string, keepDays: number}} options  of the sink
 * @returns {import('../recorded/aging.js').AgingTable}
 */
export function agingCollection (db, name, sources, { layout, keepDays }) {
  const isTimeSeries = layout === 'timeseries'
  const time = OF_MILLISECONDS.includes(layout) ? 'time' : 'time_ns'
  const keepSeconds = Math.ceil(keepDays * DAY_SECONDS)
  const collection = db.collection(name)
  const tell = () => db.command({ collMod: name, expireAfterSeconds: keepSeconds })

  /** @param {any} which @param {1|-1} direction  in time @param {number} limit */
  const first = (which, direction, limit) => {
    const its = sources === null ? which : { ...which, [isTimeSeries ? 'meta.source' : 'source']: { $in: sources } }
    const options = /** @type {const} */ ({ promoteBuffers: true, useBigInt64: true, readPreference: 'primary' })
    return collection.find(its, options).project({ [time]: 1 }).sort({ [time]: direction }).limit(limit).toArray()
  }

  return {
    isOwned: true,
    async span () {
      const [[oldest], [newest]] = await Promise.all([first({}, 1, 1), first({}, -1, 1)])
      if (!oldest) return null
      // A server that was told to keep them for a shorter time would go on with it.
      if (isTimeSeries) {
        const [{ options }] = /** @type {any[]} */ (await db.listCollections({ name }).toArray())
        if (options?.expireAfterSeconds < keepSeconds) await tell()
      }
      return { oldest: timeOf(oldest), newest: timeOf(newest) }
    },
    async removeBefore (before, maxRows) {
      if (isTimeSeries) {
        await tell()
        return 0
      }
      const limit = time === 'time' ? new Date(Number(before / NS_PER_MS)) : before
      const mayBeOwn = { $type: layout === UPSERT ? 'string' : 'binData' } // others' documents must not fill a turn
      const old = await first({ [time]: { $lt: limit }, _id: mayBeOwn }, 1, maxRows)
      const ids = old.map(({ _id: id }) => id).filter(isOwnId)
      if (ids.length === 0) return 0
      return (await collection.deleteMany({ _id: { $in: ids } }, { writeConcern: WRITE_CONCERN })).deletedCount
    }
  }
}

/** @param {any} document */
function timeOf ({ time, time_ns: ns }) {
  return ns === undefined ? BigInt(time.getTime()) * NS_PER_MS : BigInt(ns)
}
