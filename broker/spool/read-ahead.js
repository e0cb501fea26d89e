/** What is read at once: of small records some hundred. */
const AHEAD_BYTES = 2 ** 17
/** The log, and what a few readers have requested again, each in order. */
const KEPT = 4

/**
 * @typedef {import('./segment.js').Segment} Segment
 * @typedef {{segment: Segment, from: number, bytes: Buffer}} Kept  whose bytes begin where
 */

/**
 * Reads segments piece by piece for those who read record by record: each reading of a file takes turns of the event loop, which are long
 * while there is much to do.
 */
export class ReadAhead {
  /** The last that was used is last. @type {Kept[]} */
  #kept = []

  /**
   * @param {Segment} segment
   * @param {number} from
   * @param {number} length
   * @returns {Promise<Buffer>} shorter, or empty, where that cannot be read
   */
  async read (segment, from, length) {
    const before = this.#kept.find(kept => kept.segment === segment && kept.from <= from && from - endOf(kept) <= AHEAD_BYTES)
    const isKept = before !== undefined && from + length <= endOf(before)
    const kept = isKept ? before : await load(segment, from, length, before !== undefined)
    const others = this.#kept.filter(other => other !== before)
    this.#kept = [...others.slice(1 - KEPT), kept]
    return kept.bytes.subarray(from - kept.from, from - kept.from + length)
  }
}

/** @param {Kept} kept */
function endOf ({ from, bytes }) { return from + bytes.length }

/**
 * More than is asked for only where somebody reads on; where that cannot be read, what is asked for may be.
 * @param {Segment} segment @param {number} from @param {number} length @param {boolean} isAhead
 * @returns {Promise<Kept>}
 */
async function load (segment, from, length, isAhead) {
  const ahead = isAhead ? await readFrom(segment, from, Math.max(length, Math.min(AHEAD_BYTES, segment.bytes - from))) : null
  return { segment, from, bytes: ahead && ahead.length >= length ? ahead : await readFrom(segment, from, length) }
}

/** @param {Segment} segment @param {number} from @param {number} length */
async function readFrom ({ file }, from, length) {
  const buffer = Buffer.allocUnsafeSlow(length)
  const { bytesRead } = await file.read(buffer, 0, length, from).catch(() => ({ bytesRead: 0 }))
  return buffer.subarray(0, bytesRead)
}
