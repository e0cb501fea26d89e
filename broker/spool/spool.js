import { randomBytes } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { basename } from 'node:path'
import { closeAll } from '../../gateway/base/close-all.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { batchBytes } from '../../gateway/batch/batch-bytes.js'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { Confirmations } from './confirmations.js'
import { encodeRecords } from './cutting.js'
import { headOf } from './head.js'
import { Log } from './log.js'
import { Recent } from './recent.js'
import { Recovery } from './recovery.js'
import { Saved, STATE_VERSION } from './saved.js'
import { epochCounter, Segment } from './segment.js'
import { restOf, Sources } from './sources.js'
import { Stream } from './stream.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('./cutting.js').Encoded} Encoded
 * @typedef {import('./confirmations.js').Range} Range
 * @typedef {import('./confirmations.js').Sum} Sum
 * @typedef {import('./sources.js').Source} Source
 * @typedef {import('./stream.js').Run} Run
 * @typedef {'batch'|'interval'|'system'} FsyncPolicy
 *   `batch`: accepted means on the disk, a power cut loses nothing accepted. `interval`: a power cut loses at most the last interval.
 *   `system`: a power cut loses what the operating system had not written. Under all three, killing the process loses nothing accepted.
 * @typedef {{position: number, source: string, epoch: string, seq: number}} Place  of a record; the position is that in the log, and
 *   holds until the spool is closed
 * @typedef {import('./saved.js').State['sources'][number]} SavedSource
 * @typedef {{key: string, covers(source: string): boolean}} RequiredSink
 *
 * @typedef {object} SpoolOptions
 * @property {string} folder
 * @property {string} gateway
 * @property {(batch: Batch) => Uint8Array} encode  of a batch with its identity
 * @property {() => Iterable<RequiredSink>} [required]  the sinks that must have stored a batch before it may leave; none: it stays while there
 *   is room
 * @property {number} [maxBytes]
 * @property {'block'|'drop-oldest'} [whenFull]
 * @property {FsyncPolicy} [fsync]
 * @property {number} [fsyncIntervalMs]
 * @property {number} [segmentBytes]
 * @property {number} [recordBytes]  beyond, a batch is cut
 * @property {number} [waitingBytes]  batches waiting for room in memory; beyond, they are refused
 * @property {string} [ledger]  a folder that keeps every segment ever written, to check against; nothing removes them
 * @property {import('../../gateway/base/log.js').Log} [log]
 * @property {import('./segment.js').WriteAt} [write]  for tests that need a disk to fail
 *
 * @typedef {{batch: Batch, bytes: number, resolve: (identities: Identity[]) => void, reject: (error: Error) => void}} Waiting
 * @typedef {{pieces: Encoded[], answers: [Waiting, Identity[]][], offsets?: number[], isDurable?: boolean}} Group
 */

const WRITE_BYTES = 2 ** 22
const MAX_GROUP = 256
/** How long until a full or failing disk is tried again. */
const RETRY_MS = 1000
/** What the sinks have stored is saved now and then: an older copy only means that something is sent once more. */
const SAVE_MS = 10_000

/**
 * What a stage out has produced and not every required sink has stored, on disk: all sources in one log. A batch is *produced* once `append`
 * resolves.
 *
 * Events: `accepted` (there are so many bytes more to read), `full` and `room` (it blocks, it goes on), `dropped` and `lost` (source,
 * {batches, rows}).
 */
export class Spool extends EventEmitter {
  #files
  #sources
  #confirmations = new Confirmations()
  #saved
  /** @type {Waiting[]} */
  #waiting = []
  #waitingBytes = 0
  /** @type {Promise<void>|null} */
  #pumping = null
  #isClosing = false
  #epoch = ''
  #epochCount = 0
  #recent = new Recent()
  /** @type {Set<string>} names of segments that are being removed */
  #removing = new Set()
  /** @type {NodeJS.Timeout[]} */
  #timers = []
  #wake = () => {}
  #counted = { accepted: 0, refused: 0, tornBytes: 0 }
  /** @type {string|null} why it is not accepting now */
  blocked = null

  /** @param {SpoolOptions} options */
  constructor ({
    folder, gateway, encode, required = () => [], maxBytes = 2 ** 30, whenFull = 'block', fsync = 'interval', fsyncIntervalMs = 1000,
    segmentBytes = Math.min(2 ** 23, Math.ceil(maxBytes / 8)), recordBytes = 2 ** 18, waitingBytes = 2 ** 26, ledger, log = console, write
  }) {
    super()
    this.folder = folder
    this.gateway = gateway
    this.options = { encode, required, maxBytes, whenFull, fsync, fsyncIntervalMs, recordBytes, waitingBytes, log }
    this.#files = new Log({ folder, fsync, segmentBytes, ledger, write })
    this.#sources = new Sources(gateway)
    this.#saved = new Saved(folder, () => this.#state())
  }

  /** @param {SpoolOptions} options */
  static async open (options) {
    const spool = new Spool(options)
    try {
      await spool.#recover()
    } catch (error) {
      await spool.#files.close()
      throw error
    }
    return spool
  }

  get bytes () { return this.#files.bytes }

  get batches () { return this.#files.batches }

  get waiting () { return this.#waiting.length }

  /** When the oldest segment was begun, milliseconds since 1970. */
  get oldestMs () { return this.#files.segments[0]?.createdMs ?? Infinity }

  /** Accepted, refused and torn since opening; dropped and lost for the life of the spool. */
  get counters () {
    const sum = (/** @type {number} */ i) => this.#sources.sum(totals => totals[i])
    return { ...this.#counted, lostBatches: sum(1), lostRows: sum(2), droppedBatches: sum(4), droppedRows: sum(5) }
  }

  /** What of it some required sink has not stored. */
  get unstoredBytes () {
    const required = this.#required()
    let bytes = 0
    for (const segment of this.#files.segments) {
      for (const run of segment.runs) {
        for (const [first, last] of this.#openIn(run, required)) {
          for (let seq = first; seq <= last; seq++) bytes += segment.bytesOf(run.at[seq - run.first])
        }
      }
    }
    return bytes
  }

  /** What the spool has: for `head`. */
  get head () {
    const required = this.#required()
    return headOf(this.#sources, stream => this.#confirmations.doubt(stream, required))
  }

  /**
   * Accepts a batch: gives it its identity, or one to each part where it is cut, and writes it down. Resolves when it is produced (see
   * FsyncPolicy); while the spool is full and blocks, that is later. Rejects with SLUICE_SPOOL_FULL when too much is waiting, with
   * SLUICE_SPOOL_CLOSED once it closes.
   * @param {Batch} batch
   * @returns {Promise<Identity[]>}
   */
  append (batch) {
    const bytes = batchBytes(batch)
    if (this.#isClosing) return Promise.reject(new SluiceError('SLUICE_SPOOL_CLOSED', `The spool ${this.folder} is closed.`))
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes > this.options.waitingBytes) {
      this.#counted.refused++
      return Promise.reject(new SluiceError('SLUICE_SPOOL_FULL', `The spool is full: ${this.blocked ?? 'the disk is too slow'}.`, {
        fix: 'A batch was refused and counted. Give it more space, or let it drop the oldest.'
      }))
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, bytes, resolve, reject })
      this.#waitingBytes += bytes
      this.#pumping ??= this.#pump()
    })
  }

  /**
   * A record; null when it is gone or damaged.
   * @param {{source: string, epoch: string, seq: number}} place
   * @returns {Promise<{payload: Uint8Array, hash: number}|null>}
   */
  async read ({ source, epoch, seq }) {
    const stream = this.#sources.get(source)?.streams.get(epoch)
    const run = stream?.runOf(seq)
    if (!run || !stream?.has(seq)) return null
    const hash = run.hashOf(seq)
    const payload = this.#recent.take(run.segment.base + run.at[seq - run.first]) ?? await run.segment.read(run, seq)
    if (payload) return { payload, hash }
    if (stream.runOf(seq) === run && stream.has(seq)) this.#lose(stream, seq)
    return null
  }

  /**
   * The first record, from a position on, that some required sink covering its source has not stored: what is to be sent next.
   * @param {{position: number}} [from]  may itself be gone
   * @returns {Place|null} null at the end
   */
  next ({ position } = { position: 0 }) {
    const required = this.#required()
    const { segments } = this.#files
    for (let s = this.#files.indexOf(position); s < segments.length; s++) {
      const { base, seqs, runOf } = segments[s]
      for (let i = Math.max(0, position - base); i < seqs.length; i++) {
        const { stream } = runOf[i]
        const seq = seqs[i]
        if (this.#isWanted(stream, seq, required)) return { position: base + i, source: stream.source.name, epoch: stream.epoch, seq }
      }
    }
    return null
  }

  /**
   * What a reading of a sink's database says, all of it: what it does not list is not there.
   * @param {string} key
   * @param {{store: string, epochs: Record<string, Record<string, Sum[]>>}} reading
   * @returns {Promise<{doubts: Range[], clashes: Place[]}>} what cannot be verified, and records that are another's there
   */
  async confirm (key, { store, epochs }) {
    /** @type {[Stream, Sum[]][]} */
    const reported = []
    for (const [name, ofSource] of Object.entries(epochs)) {
      const source = this.#sources.get(name)
      for (const [epoch, sums] of Object.entries(ofSource)) {
        const stream = source?.streams.get(epoch)
        if (!stream) continue
        reported.push([stream, sums])
        if (source && stream === source.stream && sums.some(([, last]) => last >= stream.next.seq)) this.#begin(source, 'a database')
      }
    }
    const { doubts, clashes } = this.#confirmations.set(key, store, reported)
    this.#saved.isDirty = true
    await this.#release()
    return { doubts, clashes: clashes.flatMap(({ stream, seq }) => placeOf(stream, seq)) }
  }

  /** The sink is no longer required; what it has is known for a week, should it be again. @param {string} key */
  async forget (key) {
    this.#confirmations.forget(key)
    this.#saved.isDirty = true
    await this.#release()
  }

  /** The next batch of every source begins a new epoch. */
  startEpochs () {
    this.#epoch = ''
    this.#sources.current.clear()
    for (const source of this.#sources.inUse.values()) source.stream = null
  }

  /** Frees what every required sink has stored, the current segment too: the next batch starts another. */
  async reclaim () {
    const { newest } = this.#files
    if (newest && !this.#files.isWriting && newest.seqs.length > 0 && !this.#isOpen(newest, this.#required())) this.#files.isActive = false
    return this.#release()
  }

  /** Evicts the oldest segment that is not being written, stored or not. False when there is nothing to evict. */
  async dropOldest () {
    const [segment] = this.#files.segments
    if (!segment || (segment === this.#files.newest && (this.#files.isWriting || segment.seqs.length === 0))) return false
    const required = this.#required()
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
    for (const [{ name }, what] of dropped) this.emit('dropped', name, what)
    return true
  }

  /** Waits for what was handed over, makes it durable, and releases the files. What still finds no room is rejected. */
  async close () {
    this.#isClosing = true
    this.#wake()
    await this.#pumping
    for (const timer of this.#timers) clearInterval(timer)
    await closeAll(() => this.#files.close(), () => this.#saved.save())
  }

  async #recover () {
    const { log, fsync, fsyncIntervalMs } = this.options
    const state = await this.#saved.load(log)
    const recovery = new Recovery({ folder: this.folder, gateway: this.gateway, files: this.#files, sources: this.#sources, state, log })
    await recovery.run()
    this.#counted.tornBytes = recovery.tornBytes
    if (recovery.tornBytes > 0) log.warn(`Spool: ${recovery.tornBytes} bytes of an unfinished write were left out.`)
    const counters = Array.from(this.#sources.streams(), ({ epoch }) => epochCounter(epoch))
    this.#epochCount = Math.max(state?.counter ?? 0, ...counters)
    this.#confirmations.load(state?.sinks ?? [], (source, epoch) => this.#sources.get(source)?.streams.get(epoch))
    await this.#release()
    const stranger = this.#files.segments.flatMap(({ runs }) => runs).find(({ stream }) => stream.gateway !== this.gateway)
    if (stranger) {
      const text = `It has batches of the gateway ${stranger.stream.gateway}, and this is ${this.gateway}: no sink would report them as stored.`
      throw new SluiceError('SLUICE_SPOOL_GATEWAY', text, {
        fix: `Write that name into the file gateway-id of the data folder, or move ${this.folder} away.`
      })
    }
    const report = (/** @type {string} */ what) => (/** @type {unknown} */ error) => log.error(`Spool: ${what} failed: ${describe(error)}`)
    this.#timers = [setInterval(() => this.#saved.isDirty && this.#saved.save().catch(report('saving')), SAVE_MS).unref()]
    if (fsync === 'interval') this.#timers.push(setInterval(() => this.#files.sync().catch(report('fsync')), fsyncIntervalMs).unref())
  }

  async #pump () {
    while (this.#waiting.length > 0) {
      const accepted = await this.#persist(async () => {
        if (this.#epoch === '' || this.#sources.hasForgotten) await this.#startEpoch()
      }) && await this.#accept(this.#encodeSome())
      if (!accepted) break
    }
    for (const { reject } of this.#waiting.splice(0)) this.#refuse(reject)
    this.#waitingBytes = 0
    this.#pumping = null // in the same turn as the last look for what waits: what comes later begins another
  }

  /** As many waiting batches as fit into one write, under their identities. @returns {Group} */
  #encodeSome () {
    const { encode, recordBytes, maxBytes } = this.options
    /** @type {Group} */
    const group = { pieces: [], answers: [] }
    let size = 0
    while (this.#waiting.length > 0 && group.pieces.length < MAX_GROUP && size < Math.min(WRITE_BYTES, maxBytes / 8)) {
      const [waiting] = this.#waiting
      const { batch, bytes, reject } = waiting
      try {
        const stream = this.#streamOf(this.#sources.use(batch.source))
        if (!stream) break // an epoch begins first
        const { pieces, end } = encodeRecords({ batch, stream, mark: stream.next, encode, recordBytes, maxBytes: maxBytes / 4 })
        stream.next = end
        for (const piece of pieces) {
          group.pieces.push(piece)
          size += piece.payload.length
        }
        group.answers.push([waiting, pieces.map(({ identity }) => identity)])
      } catch (error) {
        this.#counted.refused++
        reject(/** @type {Error} */ (error))
      }
      this.#waiting.shift()
      this.#waitingBytes -= bytes
    }
    return group
  }

  /** The epoch that a source is in; null where one must begin first. @param {Source} source */
  #streamOf (source) {
    if (source.stream) return source.stream
    const stream = new Stream(this.gateway, source, this.#epoch)
    const isTaken = source.streams.has(this.#epoch) || [...this.#sources.streams()].some(({ number }) => number === stream.number)
    if (isTaken) {
      this.#epoch = ''
      return null
    }
    source.stream = stream
    source.streams.set(stream.epoch, stream)
    source.prune()
    return stream
  }

  /** Writes batches down, waiting for room as long as it takes. False when closed before. @param {Group} group */
  async #accept (group) {
    const { pieces, answers } = group
    if (pieces.length === 0) return true
    const size = Segment.sizeOf(pieces)
    const written = await this.#ensureRoom(size) && await this.#persist(() => this.#files.write(group))
    if (!written) {
      for (const [{ reject }] of answers) this.#refuse(reject)
      return false
    }
    let position = this.#files.end - pieces.length
    for (const { stream, payload, end } of pieces) {
      stream.source.rows = end.rows
      this.#recent.add(position++, payload)
    }
    for (const [{ resolve }, identities] of answers) resolve(identities)
    this.#counted.accepted += answers.length
    this.emit('accepted', size)
    return true
  }

  /** It was closed before it could write. @param {(error: Error) => void} reject */
  #refuse (reject) {
    this.#counted.refused++
    reject(new SluiceError('SLUICE_SPOOL_CLOSED', `The spool ${this.folder} was closed while it could not write: ${this.blocked}.`))
  }

  /** @param {number} bytes */
  async #ensureRoom (bytes) {
    const { maxBytes } = this.options
    while (this.bytes + bytes > maxBytes) {
      if (await this.#freeSome()) continue
      if (!await this.#wait(`${Math.round(maxBytes / 1e6)} MB are waiting for the sinks`)) return false
    }
    return true
  }

  /** As little as possible is removed. False when there is nothing to remove. */
  async #freeSome () {
    return await this.reclaim() || await this.#files.dropAside() || (this.options.whenFull === 'drop-oldest' && this.dropOldest())
  }

  /** Does what needs the disk, repeatedly while the disk refuses. False when closed before. @param {() => Promise<void>} work */
  async #persist (work) {
    while (true) {
      this.#files.isWriting = true
      try {
        await work()
        this.#unblock()
        return true
      } catch (error) {
        this.#files.isWriting = false
        const isDiskFull = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC'
        if (isDiskFull && await this.#freeSome().catch(() => false)) continue // the first error is the one to report
        if (!await this.#wait(`cannot write to ${this.folder}: ${describe(error)}`)) return false
      } finally {
        this.#files.isWriting = false
      }
    }
  }

  /** A seq must not continue over a restart: after a power cut the files may have lost what a database has already stored. */
  async #startEpoch () {
    this.#epochCount++
    await this.#saved.save()
    this.#epoch = `${this.#epochCount}-${randomBytes(4).toString('hex')}`
    this.#sources.hasForgotten = false
    this.#sources.current.add(this.#epoch)
  }

  /** Somebody has what this spool has not given yet: it was set back or copied. @param {Source} source @param {string} who */
  #begin (source, who) {
    const { name, stream } = source
    source.stream = null
    this.options.log.warn(describe(new SluiceError('SLUICE_SPOOL_SET_BACK', `${who} has more of epoch ${stream?.epoch} of "${name}" than this spool has produced.`, {
      fix: 'Was this machine restored or copied? A new epoch begins.'
    })))
  }

  /** Waits for room, for a moment. False when closing. @param {string} why */
  async #wait (why) {
    const isNews = this.blocked === null
    this.blocked ??= why
    if (this.#isClosing) return false
    if (isNews) {
      this.options.log.warn(`Spool ${this.folder} is full: ${why}.`)
      this.emit('full')
    }
    await new Promise(resolve => {
      const timer = setTimeout(() => resolve(undefined), RETRY_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })
    return !this.#isClosing
  }

  #unblock () {
    if (this.blocked === null) return
    this.blocked = null
    this.emit('room')
  }

  #required () { return [...this.options.required()] }

  /** @param {Stream} stream @param {number} seq @param {RequiredSink[]} required */
  #isWanted (stream, seq, required) {
    if (stream.gone.has(seq) || stream.replaced.has(seq)) return false
    let isCovered = false
    for (const sink of required) {
      if (!sink.covers(stream.source.name)) continue
      if (!this.#confirmations.stored(sink.key, stream)?.has(seq)) return true
      isCovered = true
    }
    return !isCovered
  }

  /** What of a run must stay: some required sink that covers its source has not stored it, or no sink is required at all. @param {Run} run @param {RequiredSink[]} required */
  #openIn ({ stream, first, last }, required) {
    const { gone, replaced, source: { name } } = stream
    const covering = required.filter(sink => sink.covers(name))
    const missing = covering.flatMap(({ key }) => (this.#confirmations.stored(key, stream) ?? NONE).missing(first, last))
    return new RangeSet(required.length === 0 ? [[first, last]] : missing).ranges
      .flatMap(([from, to]) => gone.missing(from, to))
      .flatMap(([from, to]) => replaced.missing(from, to))
  }

  /** @param {Segment} segment @param {RequiredSink[]} required */
  #isOpen (segment, required) {
    return segment.runs.some(run => this.#openIn(run, required).length > 0)
  }

  /** Removes the segments that every required sink has stored. @returns {Promise<boolean>} whether there were any */
  async #release () {
    const required = this.#required()
    const done = required.length === 0 ? [] : this.#files.finished.filter(segment => !this.#isOpen(segment, required))
    if (done.length > 0) await this.#remove(done)
    return done.length > 0
  }

  /**
   * What is known of segments is saved before their files go, so that they are not taken for lost after a kill. A disk too full to save
   * that must not keep them: then it is saved later.
   * @param {Segment[]} segments
   */
  async #remove (segments) {
    this.#files.detach(segments)
    for (const { path } of segments) this.#removing.add(basename(path))
    await this.#saved.save().catch(() => {})
    for (const segment of segments) {
      await segment.remove()
      this.#removing.delete(basename(segment.path))
    }
    this.#wake()
  }

  /** A record turned out to be damaged. @param {Stream} stream @param {number} seq */
  #lose (stream, seq) {
    const { source, epoch } = stream
    const rows = stream.rowsOf(seq, seq)
    stream.gone.add(seq)
    source.lostBatches++
    source.lostRows += rows
    this.#saved.isDirty = true
    this.options.log.error(`SLUICE_SPOOL_DAMAGED: Batch ${seq} of epoch ${epoch} of "${source.name}" is damaged on disk and lost.`)
    this.emit('lost', source.name, { batches: 1, rows })
  }

  /** @returns {import('./saved.js').State} */
  #state () {
    const { inUse, resting } = this.#sources
    return {
      version: STATE_VERSION,
      counter: this.#epochCount,
      removed: [...this.#removing],
      sources: [
        ...Array.from(inUse.values(), source => /** @type {SavedSource} */ ([source.name, restOf(source), savedStreams(source)])),
        ...Array.from(resting, ([name, rest]) => /** @type {SavedSource} */ ([name, rest, []]))
      ],
      sinks: this.#confirmations.save(this.#sources.streams(), new Set(this.#required().map(({ key }) => key)))
    }
  }
}

const NONE = new RangeSet()

/** @param {Source} source */
function savedStreams ({ streams }) {
  return [...streams.values()].filter(({ isEmpty }) => !isEmpty).map(stream => ({
    gateway: stream.gateway,
    epoch: stream.epoch,
    start: stream.start,
    end: stream.end,
    gone: stream.gone.ranges.map(([first, last]) => /** @type {[number, number, number]} */ ([first, last, stream.rowsOf(first, last)])),
    replaced: stream.replaced.ranges
  }))
}

/** @param {Stream} stream @param {number} seq @returns {Place[]} none where it is not held any more */
function placeOf (stream, seq) {
  const run = stream.runOf(seq)
  return run ? [{ position: run.segment.base + run.at[seq - run.first], source: stream.source.name, epoch: stream.epoch, seq }] : []
}
