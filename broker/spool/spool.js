import { EventEmitter } from 'node:events'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { closeAll } from '../../gateway/base/close-all.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { counterOf } from '../../gateway/batch/epochs.js'
import { spoolMark } from '../spool-mark.js'
import { balancesOf } from './balances.js'
import { Confirmations } from './confirmations.js'
import { Epochs } from './epochs.js'
import { headOf } from './head.js'
import { hear } from './hearing.js'
import { Intake } from './intake.js'
import { Log } from './log.js'
import { ReadAhead } from './read-ahead.js'
import { Recovery, refuseStrangers, strangersIn } from './recovery.js'
import { restage } from './restaging.js'
import { Retention } from './retention.js'
import { Saved, stateOf } from './saved.js'
import { Sources } from './sources.js'
import { Syncing } from './syncing.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {'batch'|'interval'|'system'} FsyncPolicy
 *   `batch`: accepted means on the disk, a power cut loses nothing accepted. `interval`: a power cut loses at most the last interval.
 *   `system`: a power cut loses what the operating system had not written. Under all three, killing the process loses nothing accepted.
 * @typedef {{source: string, epoch: string, seq: number}} Name  of a record
 * @typedef {Name & {position: number}} Place  of a record; the position is that in the log, and holds until the spool is closed
 *
 * @typedef {object} SpoolOptions
 * @property {string} folder
 * @property {string} [name]  in the gateway: the id of its node; that of the folder, unless given
 * @property {string} gateway
 * @property {(batch: Batch) => Uint8Array} encode  of a batch with its identity
 * @property {(payload: Uint8Array) => Batch} [decode]  for what is to be staged again
 * @property {() => Iterable<import('./retention.js').RequiredSink>} [required]  the sinks that must have stored a batch before it may
 *   leave; none: it stays while there is room
 * @property {number} [maxBytes]
 * @property {'block'|'drop-oldest'} [whenFull]
 * @property {FsyncPolicy} [fsync]
 * @property {number} [fsyncIntervalMs]
 * @property {number} [segmentBytes]
 * @property {number} [recordBytes]  beyond, a batch is cut
 * @property {number} [recordRows]  beyond, too
 * @property {number} [waitingBytes]  batches waiting for room in memory; beyond, they are refused
 * @property {string} [ledger]  a folder that keeps every segment ever written, to check against; nothing removes them
 * @property {import('../../gateway/base/log.js').Log} [log]
 * @property {import('./segment.js').WriteAt} [write]  for tests that need a disk to fail
 */

/**
 * What a stage out has produced and not every required sink has stored, on disk: all its sources in one log. A batch is *produced* once
 * `append` resolves.
 *
 * Events: `accepted` (there are so many bytes more to read), `full` and `room` (it blocks, it goes on), `dropped` and `lost` (source,
 * {batches, rows}).
 */
export class Spool extends EventEmitter {
  #files
  #sources
  #confirmations = new Confirmations()
  #ahead = new ReadAhead()
  #saved
  #retention
  #epochs
  #intake
  #syncing
  #mark
  #tornBytes = 0
  /** Answers of databases that had more than was known. */
  #confirmed = 0

  /** @param {SpoolOptions} options */
  constructor ({
    folder, name = basename(folder), gateway, encode, decode, required = () => [], maxBytes = 2 ** 30, whenFull = 'block',
    fsync = 'interval', fsyncIntervalMs = 1000, segmentBytes = Math.min(2 ** 23, Math.ceil(maxBytes / 8)), recordBytes = 2 ** 18,
    recordRows = Infinity, waitingBytes = 2 ** 26, ledger, log = console, write
  }) {
    super()
    this.folder = folder
    this.gateway = gateway
    this.options = { decode, log }
    /** @returns {Promise<void>} */
    const save = () => this.#saved.save()
    const files = new Log({ folder, fsync, segmentBytes, ledger, write })
    const sources = new Sources(gateway)
    this.#mark = spoolMark(name)
    const epochs = this.#epochs = new Epochs({ gateway, mark: this.#mark, sources, save })
    const retention = new Retention({
      files, confirmations: this.#confirmations, required, save,
      onRoom: () => this.#intake.wake(),
      onDropped: (source, what) => this.emit('dropped', source, what)
    })
    this.#intake = new Intake({
      folder, files, sources, epochs, retention, encode, maxBytes, recordBytes, recordRows, waitingBytes, log,
      mayDrop: whenFull === 'drop-oldest',
      emit: (event, bytes) => {
        this.#change()
        this.#syncing.written()
        this.emit(event, bytes)
      }
    })
    this.#syncing = new Syncing({ folder, fsync, fsyncIntervalMs, sync: () => files.sync(), save: () => this.#save(), log })
    this.#files = files
    this.#sources = sources
    this.#retention = retention
    this.#saved = new Saved(folder, () => stateOf({
      sources, confirmations: this.#confirmations,
      required: retention.required, removing: retention.removing, counter: epochs.count
    }))
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

  /** What of it some required sink has not stored. */
  get unstoredBytes () { return this.#retention.openBytes }

  get batches () { return this.#files.batches }

  get waiting () { return this.#intake.waiting }

  /** Why it is not accepting now. @returns {string|null} */
  get blocked () { return this.#intake.blocked }

  /** Whether it refuses what comes, instead of having it wait. */
  get isRefusing () { return this.#intake.isFull }

  /** When the oldest segment was begun, milliseconds since 1970. */
  get oldestMs () { return this.#files.segments[0]?.createdMs ?? Infinity }

  /** Accepted, refused, confirmed and torn since opening; dropped and lost for the life of the spool. */
  get counters () {
    const { accepted, refused } = this.#intake
    return { accepted, refused, confirmed: this.#confirmed, tornBytes: this.#tornBytes, ...this.#sources.totals }
  }

  /** Whether nothing of a source is held. @param {string} source */
  isEmpty (source) { return this.#sources.get(source)?.isResting ?? true }

  /** Rows accepted, each counted once: also of sources of which nothing is held. */
  get rowsBySource () { return this.#sources.rowsBySource }

  /** What a sink has and lacks of it, by source. @param {import('./retention.js').RequiredSink} sink */
  balances (sink) { return balancesOf(this.#sources, this.#confirmations, sink) }

  /** What the spool has: for `head`. */
  get head () {
    const { required } = this.#retention
    return headOf(this.#sources, stream => this.#confirmations.doubt(stream, required))
  }

  /**
   * Accepts a batch: gives it its identity, or one to each part where it is cut, and writes it down. Resolves when it is produced (see
   * FsyncPolicy); while the spool is full and blocks, that is later. Rejects with SLUICE_SPOOL_FULL when too much is waiting, with
   * SLUICE_SPOOL_CLOSED once it closes.
   * @param {Batch} batch
   * @returns {Promise<Identity[]>}
   */
  append (batch) { return this.#intake.append(batch) }

  /**
   * A record; null when it is gone or damaged.
   * @param {Name} name
   * @returns {Promise<{payload: Uint8Array, hash: number}|null>}
   */
  async read ({ source, epoch, seq }) {
    const stream = this.#find(source, epoch)
    const run = stream?.runOf(seq)
    if (!run || !stream?.has(seq)) return null
    const hash = run.hashOf(seq)
    const payload = this.#intake.recent.take(run.positionOf(seq)) ?? await run.segment.read(run, seq, this.#ahead)
    if (payload) return { payload, hash }
    if (stream.runOf(seq) === run && stream.has(seq)) this.#lose(stream, seq)
    return null
  }

  /**
   * The first record, from a position on, that some required sink covering its source has not stored: what is to be sent next.
   * @param {{position: number}} [from]  may itself be gone
   * @returns {Place|null} null at the end
   */
  next ({ position } = { position: 0 }) { return this.#retention.next(position) }

  /**
   * The newest records, newest first: those of files that were written to so long, at most, before the newest. What the clock shows now
   * does not matter: it may have been set.
   * @param {number} withinMs
   * @returns {AsyncGenerator<Place, void, void>}
   */
  async * newest (withinMs) {
    let sinceMs = -Infinity
    for (const { path, runOf, seqs } of this.#files.segments.toReversed()) {
      const { mtimeMs } = await stat(path)
      if (mtimeMs < sinceMs) return
      sinceMs = Math.max(sinceMs, mtimeMs - withinMs)
      for (let i = seqs.length - 1; i >= 0; i--) {
        const place = runOf[i].placeOf(seqs[i])
        if (place) yield place
      }
    }
  }

  /**
   * What a reading of a sink's database has of the epochs that it names: see confirmations.js.
   * @param {string} key
   * @param {import('./confirmations.js').Report} report
   * @returns {Promise<Omit<import('./confirmations.js').Verified, 'clashes'> & {clashes: Place[]}>}
   */
  async confirm (key, { store, reading, epochs, outcomes = {} }) {
    /** @type {[Stream, import('./confirmations.js').Sum[]][]} */
    const reported = []
    for (const [name, ofSource] of Object.entries(epochs)) {
      for (const [epoch, sums] of Object.entries(ofSource)) {
        const stream = this.#find(name, epoch)
        if (!stream) continue
        reported.push([stream, sums])
        if (stream === stream.source.stream && sums.some(([, last]) => last >= stream.next.seq)) this.#begin(stream, 'A database')
      }
    }
    const verified = this.#confirmations.set(key, store, reported, reading)
    for (const [name, byMark] of Object.entries(outcomes)) {
      if (this.#sources.get(name)) this.#confirmations.became(key, name, byMark[this.#mark])
    }
    if (verified.isMore) this.#confirmed++
    this.#change()
    await this.#retention.release()
    return { ...verified, clashes: verified.clashes.flatMap(({ stream, seq }) => stream.placeOf(seq) ?? []) }
  }

  /**
   * A broker has it: what no sink covers may leave.
   * @param {Name} name
   */
  sent ({ source, epoch, seq }) {
    this.#find(source, epoch)?.sent.add(seq)
    this.#retention.changed()
  }

  /** The sink is no longer required; what it has is known for a week, should it be again. @param {string} key */
  async forget (key) {
    this.#confirmations.forget(key)
    this.#change()
    await this.#retention.release()
  }

  /**
   * Stages records again under new identities, with the old ones as ancestors; once the new are durably there, the old are replaced. In
   * halves, for what is too long for a broker, or in a new epoch, where the old one is somebody else's, too: see restaging.js.
   * @param {Name[]} names
   * @param {{inHalves?: boolean}} [options]
   * @returns {Promise<Identity[]>} the new ones
   */
  async restage (names, { inHalves = false } = {}) {
    const identities = await restage(names, {
      inHalves,
      decode: this.options.decode,
      find: (source, epoch) => this.#find(source, epoch),
      read: name => this.read(name),
      append: (batch, again) => this.#intake.append(batch, again)
    })
    this.#change()
    return identities
  }

  /** The next batch of every source begins a new epoch. */
  startEpochs () { this.#epochs.startAll() }

  /**
   * What a broker has kept as this spool's head, on connecting: where it knows of more than is here, that is lost, or this is a copy.
   * @param {import('./hearing.js').HeardHead} head
   */
  heard (head) {
    for (const { source, stream, batches, rows } of hear(head, this.#sources)) {
      if (stream) this.#begin(stream, 'The broker')
      const text = `The broker has heard of ${batches} batches of "${source.name}" that are not here: lost.`
      if (batches > 0 || rows > 0) this.#report(source, text, batches, rows)
    }
  }

  /** Frees what every required sink has stored, the current segment too. */
  reclaim () { return this.#retention.reclaim() }

  /** Evicts the oldest segment that is not being written, stored or not. False when there is nothing to evict. */
  dropOldest () { return this.#retention.dropOldest() }

  /** Waits for what was handed over, makes it durable, and releases the files. What still finds no room is rejected. */
  async close () {
    await this.#intake.close()
    this.#syncing.close()
    await closeAll(() => this.#files.close(), () => this.#saved.save())
  }

  async #recover () {
    const { log } = this.options
    const state = await this.#saved.load(log)
    const recovery = new Recovery({ folder: this.folder, gateway: this.gateway, files: this.#files, sources: this.#sources, state, log })
    await recovery.run()
    this.#tornBytes = recovery.tornBytes
    if (recovery.tornBytes > 0) log.warn(`Spool ${this.folder}: ${recovery.tornBytes} bytes of an unfinished write were left out.`)
    const counters = Array.from(this.#sources.streams(), ({ epoch }) => counterOf(epoch))
    this.#epochs.count = Math.max(state?.counter ?? 0, ...counters)
    this.#confirmations.load(state?.sinks ?? [], (source, epoch) => this.#find(source, epoch))
    await this.#retention.release(strangersIn(this.#files, this.gateway), 'stored')
    await this.#retention.release()
    refuseStrangers(this.#files, this.gateway, this.folder)
    this.#syncing.start()
  }

  /** What is held, or what is known of it. */
  #change () {
    this.#saved.isDirty = true
    this.#retention.changed()
  }

  async #save () {
    await this.#retention.release()
    if (this.#saved.isDirty) await this.#saved.save()
  }

  /** @param {string} source @param {string} epoch */
  #find (source, epoch) { return this.#sources.get(source)?.streams.get(epoch) }

  /** Somebody has what this spool has not given yet: it was set back, or copied. @param {Stream} stream @param {string} who */
  #begin ({ source, epoch }, who) {
    source.stream = null
    const text = `${who} has more of epoch ${epoch} of "${source.name}" than this spool has produced; a new epoch begins.`
    this.options.log.warn(describe(new SluiceError('SLUICE_SPOOL_SET_BACK', text, { fix: 'Was this machine restored, or copied?' })))
  }

  /** A record turned out to be damaged. @param {Stream} stream @param {number} seq */
  #lose (stream, seq) {
    const { source, epoch } = stream
    stream.gone.add(seq)
    this.#report(source, `Batch ${seq} of epoch ${epoch} of "${source.name}" is damaged on disk and lost.`, 1, stream.rowsOf(seq, seq))
  }

  /** @param {import('./sources.js').Source} source @param {string} what @param {number} batches @param {number} rows */
  #report (source, what, batches, rows) {
    source.lostBatches += batches
    source.lostRows += rows
    this.#change()
    this.options.log.error(describe(new SluiceError('SLUICE_SPOOL_DAMAGED', what)))
    this.emit('lost', source.name, { batches, rows })
  }
}
