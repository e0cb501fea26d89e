import { describe, SluiceError } from '../../gateway/base/errors.js'
import { batchBytes } from '../../gateway/batch/batch-bytes.js'
import { encodeRecords, noteOf } from './cutting.js'
import { Kind } from './record.js'
import { Recent } from './recent.js'
import { Segment } from './segment.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('./segment.js').Piece} Piece
 * @typedef {import('./sources.js').Source} Source
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {{stream: Stream, seq: number, parts: Batch[], ancestors: Identity['ancestors']}} Again  a record, to be staged in these parts
 * @typedef {(identities: Identity[]) => void} Resolve
 * @typedef {{batch: Batch, bytes: number, again?: Again, resolve: Resolve, reject: (error: Error) => void}} Waiting
 * @typedef {{pieces: Piece[], answers: [Waiting, Identity[]][], written?: Written, isDurable?: boolean}} Group  for one write
 * @typedef {{segment: Segment, offsets: number[]}} Written
 */

const WRITE_BYTES = 2 ** 22
/** While much is to be done, a turn of the event loop takes long, and a write at least one. */
const MAX_GROUP = 1024
/** How long until a full or failing disk is tried again. */
const RETRY_MS = 1000

/** The way into the log: batches wait, get their identities and are written down, many at once; while there is no room they wait longer. */
export class Intake {
  /** @type {Waiting[]} */
  #waiting = []
  /** To be staged again: they go first, and need less room, since only so what is held may be stored and leave. @type {Waiting[]} */
  #again = []
  #waitingBytes = 0
  /** One was refused, and nothing has left since. */
  #isFull = false
  /** @type {Promise<void>|null} */
  #pumping = null
  #isClosing = false
  #wake = () => {}
  recent = new Recent()
  accepted = 0
  refused = 0
  /** @type {string|null} why nothing is accepted now */
  blocked = null

  /**
   * @param {object} options
   * @param {string} options.folder
   * @param {import('./epochs.js').Epochs} options.epochs
   * @param {import('./log.js').Log} options.files
   * @param {import('./sources.js').Sources} options.sources
   * @param {import('./retention.js').Retention} options.retention
   * @param {(batch: Batch) => Uint8Array} options.encode
   * @param {number} options.maxBytes
   * @param {number} options.recordBytes
   * @param {number} options.recordRows
   * @param {number} options.waitingBytes
   * @param {boolean} options.mayDrop
   * @param {import('../../gateway/base/log.js').Log} options.log
   * @param {(event: 'accepted'|'full'|'room', bytes?: number) => void} options.emit
   */
  constructor (options) {
    this.options = options
  }

  /** Not even memory has room for what is to wait. */
  get isFull () { return this.#isFull }

  get waiting () { return this.#again.length + this.#waiting.length }

  /** @param {Batch} batch @param {Again} [again] @returns {Promise<Identity[]>} */
  append (batch, again) {
    const bytes = batchBytes(batch)
    const { folder, waitingBytes } = this.options
    if (this.#isClosing) return Promise.reject(new SluiceError('SLUICE_SPOOL_CLOSED', `The spool ${folder} is closed.`))
    // One that is smaller must not overtake what was refused: in one turn, all is accepted up to the first that is not, and nothing beyond.
    this.#isFull ||= !again && this.#waiting.length > 0 && this.#waitingBytes + bytes > waitingBytes
    if (!again && this.#isFull) {
      this.refused++
      return Promise.reject(new SluiceError('SLUICE_SPOOL_FULL', `The spool is full: ${this.blocked ?? 'the disk is too slow'}.`, {
        fix: 'See why its sinks do not store, or give it more space.'
      }))
    }
    return new Promise((resolve, reject) => {
      const queue = again ? this.#again : this.#waiting
      queue.push({ batch, bytes, again, resolve, reject })
      this.#waitingBytes += bytes
      if (again) this.#wake()
      this.#pumping ??= this.#pump()
    })
  }

  /** There is room again. */
  wake () { this.#wake() }

  /** Waits for what was handed over; what still finds no room is rejected. */
  async close () {
    this.#isClosing = true
    this.#wake()
    await this.#pumping
  }

  async #pump () {
    const { epochs } = this.options
    while (this.waiting > 0) {
      const accepted = await this.#persist(async () => {
        if (epochs.isDue) await epochs.begin()
      }) && await this.#accept(this.#encodeSome())
      if (!accepted) break
    }
    for (const { reject } of [...this.#again.splice(0), ...this.#waiting.splice(0)]) this.#refuse(reject)
    this.#waitingBytes = 0
    this.#pumping = null // in the same turn as the last look for what waits: what comes later begins another
  }

  /** As many waiting batches as fit into one write, under their identities. @returns {Group} */
  #encodeSome () {
    /** @type {Group} */
    const group = { pieces: [], answers: [] }
    let size = 0
    const { epochs, sources } = this.options
    const queue = this.#again.length > 0 ? this.#again : this.#waiting
    while (queue.length > 0 && group.pieces.length < MAX_GROUP && size < Math.min(WRITE_BYTES, this.options.maxBytes / 8)) {
      const [waiting] = queue
      const { batch, again, bytes, reject } = waiting
      try {
        const stream = epochs.streamOf(again?.stream.source ?? sources.use(batch.source))
        if (!stream) break // an epoch begins first
        const identities = this.#encode(waiting, stream, group)
        group.answers.push([waiting, identities])
        size += bytes
      } catch (error) {
        this.refused++
        reject(/** @type {Error} */ (error))
      }
      queue.shift()
      this.#isFull = false
      this.#waitingBytes -= bytes
      if (again) break // by itself, so that a kill leaves all of it or its end torn
    }
    return group
  }

  /** @param {Waiting} waiting @param {Stream} stream @param {Group} group  gets the pieces */
  #encode ({ batch, again }, stream, group) {
    const { encode, recordBytes, recordRows, maxBytes } = this.options
    if (again && !again.stream.has(again.seq)) return []
    const parts = again?.parts ?? [batch]
    const { next: mark } = stream
    const { ancestors } = again ?? {}
    const { pieces, end } = encodeRecords({ parts, stream, mark, encode, recordBytes, recordRows, maxBytes: maxBytes / 4, ancestors })
    stream.next = end
    if (again) {
      group.pieces.push(noteOf(stream, mark, pieces.length, again))
      group.isDurable = true
    }
    for (const piece of pieces) group.pieces.push(piece)
    return pieces.map(({ identity }) => identity)
  }

  /** Writes batches down, waiting for room as long as it takes. False when closed before. @param {Group} group */
  async #accept (group) {
    const { pieces, answers } = group
    const { files, emit } = this.options
    if (pieces.length > 0) {
      const size = Segment.sizeOf(pieces)
      const hasRoom = await this.#ensureRoom(size, group)
      if (!hasRoom && !this.#isClosing) {
        this.#putBack(group)
        return true
      }
      const written = hasRoom && await this.#persist(() => files.write(group))
      if (!written) {
        for (const [{ reject }] of answers) this.#refuse(reject)
        return false
      }
      this.#register(pieces)
      emit('accepted', size)
    }
    for (const [{ resolve, again }, identities] of answers) {
      if (again && identities.length > 0) again.stream.replace(again.seq)
      resolve(identities)
    }
    this.accepted += answers.length
    return true
  }

  /** Others go first. @param {Group} group  of which nothing is written */
  #putBack ({ pieces, answers }) {
    for (const { stream, mark } of pieces.toReversed()) stream.next = mark
    const waiting = answers.map(([each]) => each)
    this.#waiting.unshift(...waiting)
    for (const { bytes } of waiting) this.#waitingBytes += bytes
  }

  /** @param {Piece[]} pieces  that are in the log, at its end */
  #register (pieces) {
    let position = this.options.files.end
    for (const { kind } of pieces) if (kind === Kind.batch) position--
    for (const { kind, stream, payload, end } of pieces) {
      if (kind !== Kind.batch) continue
      stream.source.rows = Math.max(stream.source.rows, end.rows)
      this.recent.add(position++, payload)
    }
  }

  /** It was closed before it could write. @param {(error: Error) => void} reject */
  #refuse (reject) {
    this.refused++
    reject(new SluiceError('SLUICE_SPOOL_CLOSED', `The spool ${this.options.folder} was closed while it could not write: ${this.blocked}.`))
  }

  /** False when closed before, or when something else goes first. @param {number} bytes @param {Group} group */
  async #ensureRoom (bytes, { isDurable: isAgain = false }) {
    const { files, maxBytes } = this.options
    while (files.bytes + bytes > maxBytes + (isAgain ? files.options.segmentBytes : 0)) {
      let why = `${Math.round(maxBytes / 2 ** 20)} MiB are waiting for the sinks`
      try {
        if (await this.#freeSome()) continue
      } catch (error) {
        why = `cannot remove what is stored: ${describe(error)}`
      }
      if ((!isAgain && this.#again.length > 0) || !await this.#wait(why)) return false
    }
    return true
  }

  /** As little as possible is removed. False when there is nothing to remove. */
  async #freeSome () {
    const { files, retention, mayDrop } = this.options
    return await retention.reclaim() || await files.dropAside() || (mayDrop && retention.dropOldest())
  }

  /** Does what needs the disk, repeatedly while the disk refuses. False when closed before. @param {() => Promise<void>} work */
  async #persist (work) {
    const { files, folder } = this.options
    while (true) {
      files.isWriting = true
      try {
        await work()
        this.#unblock()
        return true
      } catch (error) {
        files.isWriting = false
        const isDiskFull = /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOSPC'
        if (isDiskFull && await this.#freeSome().catch(() => false)) continue // the first error is the one to report
        if (!await this.#wait(`cannot write to ${folder}: ${describe(error)}`)) return false
      } finally {
        files.isWriting = false
      }
    }
  }

  /** Waits for room, for a moment. False when closing. @param {string} why */
  async #wait (why) {
    const { folder, log, emit } = this.options
    const isNews = this.blocked === null
    this.blocked ??= why
    if (this.#isClosing) return false
    if (isNews) {
      log.warn(`Spool ${folder} is full: ${why}.`)
      emit('full')
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
    this.options.emit('room')
  }
}
