import { Kind } from './record.js'
import { Scan } from './scan.js'

/**
 * @typedef {object} Read
 * @property {string} source
 * @property {string} epoch
 * @property {number} seq
 * @property {number} rows
 * @property {boolean} isDamaged
 * @property {Uint8Array} payload  valid until the next
 * @property {Restaging|null} restaging  one object for all records of a restaging
 *
 * @typedef {{count: number, replaces: [epoch: string, seq: number][]}} Restaging  so many records, if they are all there, replace others
 */

/**
 * The records of a segment file, for a reader outside of the spool: it may be written to meanwhile, or end in the middle of a record.
 * @param {string} path
 * @returns {AsyncGenerator<Read>}
 */
export async function * recordsOf (path) {
  const scan = await Scan.open(path)
  try {
    /** @type {Map<number, [gateway: string, source: string, epoch: string]>} */
    const streams = new Map()
    /** @type {Restaging|null} */
    let restaging = null
    let count = 0
    for await (const { found } of scan.items()) {
      if (!found) continue
      const { header: { kind, stream, seq, rows }, payload, isDamaged } = found
      if (kind === Kind.introduction && !isDamaged) streams.set(stream, JSON.parse(payload.toString()))
      if (kind === Kind.restaging && !isDamaged) {
        restaging = /** @type {Restaging} */ (JSON.parse(payload.toString()))
        count = 0
      }
      const [, source, epoch] = streams.get(stream) ?? []
      if (kind !== Kind.batch || source === undefined || epoch === undefined) continue
      if (restaging && ++count > restaging.count) restaging = null
      yield { source, epoch, seq, rows, isDamaged, payload, restaging }
    }
  } finally {
    await scan.close()
  }
}
