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
 * @property {[epoch: string, seq: number][]} replaces  identities that the records from this one on replace
 */

/**
 * The records of a segment file, for a reader outside of the spool: it may be written to meanwhile, or have ended in the middle of a record.
 * @param {string} path
 * @returns {AsyncGenerator<Read>}
 */
export async function * recordsOf (path) {
  const scan = await Scan.open(path)
  try {
    /** @type {Map<number, [gateway: string, source: string, epoch: string]>} */
    const streams = new Map()
    /** @type {Read['replaces']} */
    let replaces = []
    for await (const { found } of scan.items()) {
      if (!found) continue
      const { header: { kind, stream, seq, rows }, payload, isDamaged } = found
      if (kind === Kind.introduction && !isDamaged) streams.set(stream, JSON.parse(payload.toString()))
      if (kind === Kind.restaging && !isDamaged) ({ replaces } = JSON.parse(payload.toString()))
      const [, source, epoch] = streams.get(stream) ?? []
      if (kind !== Kind.batch || source === undefined || epoch === undefined) continue
      yield { source, epoch, seq, rows, isDamaged, payload, replaces }
      replaces = []
    }
  } finally {
    await scan.close()
  }
}
