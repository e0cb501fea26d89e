import { RangeSet } from '../../gateway/batch/ranges.js'
import { hashOf, subtractHashes } from '../../gateway/batch/hashes.js'

/**
 * @typedef {import('./segment.js').Segment} Segment
 * @typedef {{seq: number, rows: number, sum: number}} Mark  how many rows of the source, and which sum of hashes of the epoch, were
 *   before a seq; NaN behind a tail that was lost
 */

/** Records of one stream that lie in one segment under consecutive seqs. */
export class Run {
  /** @type {number[]} index of each record in its segment */
  at = []
  /** @type {number[]} rows of the source before each record, and behind the last */
  rows
  /** @type {number[]} sum of the epoch's hashes before each record, and behind the last */
  sums

  /** @param {Stream} stream @param {Segment} segment @param {Mark} start */
  constructor (stream, segment, start) {
    this.stream = stream
    this.segment = segment
    this.first = start.seq
    this.rows = [start.rows]
    this.sums = [start.sum]
  }

  get last () { return this.first + this.at.length - 1 }

  /** @param {number} seq  first … last + 1 @returns {Mark} */
  mark (seq) {
    return { seq, rows: this.rows[seq - this.first], sum: this.sums[seq - this.first] }
  }

  /** In the log. @param {number} seq */
  positionOf (seq) { return this.segment.base + this.at[seq - this.first] }

  /** @param {number} seq @returns {import('./spool.js').Place} */
  placeOf (seq) {
    const { source: { name: source }, epoch } = this.stream
    return { position: this.positionOf(seq), source, epoch, seq }
  }

  removeLast () {
    this.at.pop()
    this.rows.pop()
    this.sums.pop()
    this.stream.end = this.mark(this.last + 1)
    if (this.at.length === 0) this.stream.runs.splice(this.stream.runs.indexOf(this), 1)
  }

  /** @param {number} seq */
  hashOf (seq) {
    const i = seq - this.first
    return subtractHashes(this.sums[i + 1], this.sums[i])
  }
}

/** What the log has of one epoch of a source. */
export class Stream {
  /** @type {Run[]} in order of seq */
  runs = []
  /** Below `end` and not to be read: damaged, or removed while what is before it is still there. */
  gone = new RangeSet()
  /** Staged again under other identities. */
  replaced = new RangeSet()
  /** A broker has had them since the spool was opened. */
  sent = new RangeSet()
  /** @type {Mark} the oldest that is held, or gone and not yet forgotten */
  start
  /** @type {Mark} behind the last in the log */
  end
  /** @type {Mark} what the next batch gets: some may be on their way to the log */
  next

  /**
   * @param {string} gateway
   * @param {import('./sources.js').Source} source
   * @param {string} epoch
   * @param {Mark} [start]
   */
  constructor (gateway, source, epoch, start = { seq: 0, rows: source.rows, sum: 0 }) {
    this.gateway = gateway
    this.source = source
    this.epoch = epoch
    this.introduction = Buffer.from(JSON.stringify([gateway, source.name, epoch]))
    this.number = hashOf(this.introduction)
    this.start = start
    this.end = start
    this.next = start
  }

  get isEmpty () { return this.runs.length === 0 }

  /** @param {Segment} segment @param {number} index  in the segment @param {Mark} mark @param {Mark} end */
  append (segment, index, mark, end) {
    let run = this.runs[this.runs.length - 1]
    if (run?.segment !== segment || run.last + 1 !== mark.seq) {
      run = new Run(this, segment, mark)
      this.runs.push(run)
      segment.runs.push(run)
    }
    run.at.push(index)
    run.rows.push(end.rows)
    run.sums.push(end.sum)
    this.reach(end)
    return run
  }

  /** It is known to have been so long. @param {Mark} mark */
  reach (mark) {
    if (mark.seq > this.end.seq) this.end = mark
  }

  /** The run that a seq lies in; undefined where it is not held. @param {number} seq */
  runOf (seq) {
    const run = this.runs[this.#search(seq)]
    return run !== undefined && run.first <= seq ? run : undefined
  }

  /** @param {number} seq */
  placeOf (seq) { return this.runOf(seq)?.placeOf(seq) }

  /** What was before a seq, where the log still knows. @param {number} seq @returns {Mark|undefined} */
  mark (seq) {
    if (seq === this.end.seq) return this.end
    if (seq === this.start.seq) return this.start
    const run = this.runOf(seq) ?? this.runOf(seq - 1)
    return run?.mark(seq)
  }

  /** How many rows these seqs have, as far as known. @param {number} first @param {number} last */
  rowsOf (first, last) {
    const from = this.mark(first)
    const to = this.mark(last + 1)
    return from && to ? to.rows - from.rows : 0
  }

  /** Of ranges, those that can still be sent. @param {[first: number, last: number][]} ranges */
  sendable (ranges) {
    return ranges
      .flatMap(([first, last]) => this.gone.missing(first, last))
      .flatMap(([first, last]) => this.replaced.missing(first, last))
  }

  /** Whether it can still be sent. @param {number} seq */
  has (seq) {
    return this.runOf(seq) !== undefined && !this.gone.has(seq) && !this.replaced.has(seq)
  }

  /** Its rows are in the log again, under other identities. @param {number} seq */
  replace (seq) {
    if (this.replaced.has(seq)) return
    this.replaced.add(seq)
    this.source.replacedRows += this.rowsOf(seq, seq)
  }

  /** It had been longer than what is here. @param {number} last @param {number} rows  behind it */
  loseTail (last, rows) {
    if (!this.isEmpty) this.gone.add(this.end.seq, last)
    this.end = { seq: last + 1, rows: Math.max(rows, this.end.rows), sum: NaN }
    if (this.isEmpty) this.start = this.end
  }

  /** A segment is removed. @param {Run} run */
  remove (run) {
    const isFirst = this.runs[0] === run
    this.runs.splice(this.runs.indexOf(run), 1)
    if (!isFirst) this.gone.add(run.first, run.last)
    else this.start = this.runs[0]?.mark(this.runs[0].first) ?? this.end
    const isHeld = (/** @type {[number, number]} */ [, last]) => last >= this.start.seq
    this.gone = new RangeSet(this.gone.ranges.filter(isHeld))
    this.replaced = new RangeSet(this.replaced.ranges.filter(isHeld))
    this.sent = new RangeSet(this.sent.ranges.filter(isHeld))
  }

  /** Index of the first run that ends at or after a seq. @param {number} seq */
  #search (seq) {
    let low = 0
    let high = this.runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.runs[middle].last < seq) low = middle + 1
      else high = middle
    }
    return low
  }
}
