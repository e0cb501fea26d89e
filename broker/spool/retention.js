import { basename } from 'node:path'
import { RangeSet } from '../../gateway/batch/ranges.js'

/**
 * @typedef {import('./segment.js').Segment} Segment
 * @typedef {import('./sources.js').Source} Source
 * @typedef {import('./stream.js').Run} Run
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {{key: string, covers(source: string): boolean}} RequiredSink
 * @typedef {'stored'|'confirmed'} As  as far as known, or as this run was told
 */

const NONE = new RangeSet()

/** What must stay in the log, and what may leave it: a segment goes once every required sink has stored all of it that it covers. */
export class Retention {
  /** @type {Set<string>} names of segments that are being removed */
  removing = new Set()
  /** As it was found last, unless something has changed since. @type {{bytes: number, required: RequiredSink[]}|null} */
  #open = null

  /**
   * @param {object} options
   * @param {import('./log.js').Log} options.files
   * @param {import('./confirmations.js').Confirmations} options.confirmations
   * @param {() => Iterable<RequiredSink>} options.required
   * @param {() => Promise<void>} options.save  what is known of what is in the log
   * @param {() => void} options.onRoom
   * @param {(source: string, what: {batches: number, rows: number}) => void} options.onDropped
   */
  constructor (options) {
    this.options = options
  }

  get required () { return [...this.options.required()] }

  /** Something is held, or known to be stored, that was not before. */
  changed () { this.#open = null }

  /** What of the log some required sink has not stored. */
  get openBytes () {
    const { required } = this
    const isKnown = required.length === this.#open?.required.length && this.#open.required.every((sink, i) => sink === required[i])
    const { bytes } = this.#open = isKnown && this.#open ? this.#open : { bytes: this.#findOpenBytes(required), required }
    return bytes
  }

  /** @param {RequiredSink[]} required */
  #findOpenBytes (required) {
    const { files } = this.options
    let bytes = 0
    for (const segment of files.segments) {
      for (const run of segment.runs) {
        for (const [first, last] of this.#openIn(run, required)) {
          for (let seq = first; seq <= last; seq++) bytes += segment.bytesOf(run.at[seq - run.first])
        }
      }
    }
    return bytes
  }

  /** The first record from a position on that is to be sent. @param {number} position */
  next (position) {
    const { required, options: { files } } = this
    for (const { base, seqs, runOf } of files.segments.slice(files.indexOf(position))) {
      for (let i = Math.max(0, position - base); i < seqs.length; i++) {
        if (this.#isWanted(runOf[i].stream, seqs[i], required)) return runOf[i].placeOf(seqs[i])
      }
    }
    return null
  }

  /**
   * Whether a record is to be sent: one that no sink covers may have other readers.
   * @param {Stream} stream
   * @param {number} seq
   * @param {RequiredSink[]} required
   */
  #isWanted (stream, seq, required) {
    if (stream.gone.has(seq) || stream.replaced.has(seq)) return false
    let isCovered = false
    for (const sink of required) {
      if (!sink.covers(stream.source.name)) continue
      if (!this.options.confirmations.stored(sink.key, stream)?.has(seq)) return true
      isCovered = true
    }
    return !isCovered
  }

  /**
   * Removes the segments that every required sink has stored.
   * @param {Segment[]} [segments]
   * @param {As} [as]
   * @returns {Promise<boolean>} whether there were any
   */
  async release (segments = this.options.files.finished, as = 'confirmed') {
    const { required } = this
    const done = required.length === 0 ? [] : segments.filter(segment => !this.#isOpen(segment, required, as))
    if (done.length > 0) await this.#remove(done)
    return done.length > 0
  }

  /** Frees what every required sink has stored, the current segment too: the next batch starts another. */
  async reclaim () {
    const { files } = this.options
    const { newest } = files
    if (newest && !files.isBusy && newest.seqs.length > 0 && !this.#isOpen(newest, this.required, 'confirmed')) files.isActive = false
    return this.release()
  }

  /** Evicts the oldest segment that is not being written, stored or not. False when there is nothing to evict. */
  async dropOldest () {
    const { required, options: { files, onDropped } } = this
    const [segment] = files.segments
    if (!segment || (segment === files.newest && (files.isBusy || segment.seqs.length === 0))) return false
    /** @type {Map<Source, {batches: number, rows: number}>} */
    const dropped = new Map()
    for (const run of segment.runs) {
      const { stream } = run
      for (const [first, last] of this.#openIn(run, required)) {
        const { batches, rows } = dropped.get(stream.source) ?? { batches: 0, rows: 0 }
        dropped.set(stream.source, { batches: batches + last - first + 1, rows: rows + stream.rowsOf(first, last) })
      }
    }
    for (const [source, { batches, rows }] of dropped) {
      source.droppedBatches += batches
      source.droppedRows += rows
    }
    await this.#remove([segment])
    for (const [{ name }, what] of dropped) onDropped(name, what)
    return true
  }

  /**
   * What of a run must stay: some required sink that covers its source has not stored it, or no sink is required at all. What none covers
   * may have other readers, and stays until a broker has it.
   * @param {Run} run
   * @param {RequiredSink[]} required
   * @param {As} [as]
   */
  #openIn ({ stream, first, last }, required, as = 'stored') {
    const { sent, source: { name } } = stream
    const covering = required.filter(sink => sink.covers(name))
    const having = covering.map(({ key }) => this.options.confirmations[as](key, stream) ?? NONE)
    const missing = (covering.length > 0 ? having : [sent]).flatMap(set => set.missing(first, last))
    return stream.sendable(new RangeSet(required.length === 0 ? [[first, last]] : missing).ranges)
  }

  /** @param {Segment} segment @param {RequiredSink[]} required @param {As} as */
  #isOpen (segment, required, as) {
    return segment.runs.some(run => this.#openIn(run, required, as).length > 0)
  }

  /**
   * What is known of segments is saved before their files go, so that they are not taken for lost after a kill. A disk too full to save
   * that must not keep them: then it is saved later.
   * @param {Segment[]} segments
   */
  async #remove (segments) {
    const { files, save, onRoom } = this.options
    files.detach(segments)
    this.changed()
    for (const { path } of segments) this.removing.add(basename(path))
    await save().catch(() => {})
    for (const segment of segments) {
      await segment.remove()
      this.removing.delete(basename(segment.path))
    }
    onRoom()
  }
}
