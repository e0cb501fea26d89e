/** What is read at once: of small records some hundred. */
const AHEAD_BYTES = 2 ** 17
/** The log, and what a few readers have requested again, each in order. */
const KEPT = 4

/** @typedef {import('./segment.js').Segment} Segment */

/**
 * Reads segments piece by piece for those who read record by record: each reading of a file takes at least a turn of the event loop, which
 * is long while there is much to do.
 */
export class ReadAhead {
  /** Whose bytes begin where; the newest last. @type {{segment: Segment, from: number, bytes: Buffer}[]} */
  #kept = []

  /**
   * @param {Segment} segment
   * @param {number} from
   * @param {number} length
   * @returns {Promise<Buffer>} shorter, or empty, where that cannot be read
   */
  async read (segment, from, length) {
    const kept = this.#find(segment, from, length) ?? await this.#load(segment, from, length)
    return kept.bytes.subarray(from - kept.from, from - kept.from + length)
  }

  /** @param {Segment} segment @param {number} from @param {number} length */
  #find (segment, from, length) {
    return this.#kept.find(kept => kept.segment === segment && kept.from <= from && from + length <= kept.from + kept.bytes.length)
  }

  /**
   * Where more than is asked for cannot be read, what is asked for may be.
   * @param {Segment} segment @param {number} from @param {number} length
   */
  async #load (segment, from, length) {
    const ahead = await readFrom(segment, from, Math.max(length, Math.min(AHEAD_BYTES, segment.bytes - from)))
    const bytes = ahead.length < length ? await readFrom(segment, from, length) : ahead
    const left = this.#kept.findIndex(kept => kept.segment === segment && kept.from < from && kept.from + kept.bytes.length >= from)
    if (left >= 0 || this.#kept.length === KEPT) this.#kept.splice(Math.max(0, left), 1)
    const loaded = { segment, from, bytes }
    this.#kept.push(loaded)
    return loaded
  }
}

/** @param {Segment} segment @param {number} from @param {number} length */
async function readFrom ({ file }, from, length) {
  const buffer = Buffer.allocUnsafeSlow(length)
  const { bytesRead } = await file.read(buffer, 0, length, from).catch(() => ({ bytesRead: 0 }))
  return buffer.subarray(0, bytesRead)
}
