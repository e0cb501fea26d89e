import { EventEmitter } from 'node:events'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { contentType, encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { Publisher } from './publisher.js'
import { Budget } from '../spool/budget.js'
import { Spool } from '../spool/spool.js'

/**
 * @typedef {object} StageOptions
 * @property {string} folder  of all its spools
 * @property {string} gateway
 * @property {import('mqtt').MqttClient} client  with a fixed id and a persistent session
 * @property {number} [maxBytes]  of all its spools together
 * @property {'block'|'drop-oldest'} [whenFull]
 * @property {import('../spool/spool.js').FsyncPolicy} [fsync]
 * @property {number} [fsyncIntervalMs]
 * @property {number} [headIntervalMs]  how often it publishes what the spools have
 * @property {(source: string) => string[]} [requiredSinks]  sinks that are required before they announce themselves
 * @property {string} [ledger]
 * @property {import('../../gateway/base/log.js').Log} [log]
 */

const MAX_SOURCES = 1000
const MAX_NAME_BYTES = 200

/**
 * The way into staging: a spool for each source, and one publisher for them all. What an earlier run left in the spools is sent too.
 *
 * Events: `full` and `room` (source): appending to it waits, goes on; `dropped` (source, {batches, rows}).
 */
export class Stage extends EventEmitter {
  /** @type {Map<string, Promise<Spool>>} */
  #opening = new Map()
  /** @type {Map<string, Spool>} */
  spools = new Map()

  /** @param {StageOptions} options */
  constructor ({ client, gateway, maxBytes = 2 ** 30, headIntervalMs, requiredSinks = () => [], log = console, ...options }) {
    super()
    this.requiredSinks = requiredSinks
    this.options = { ...options, gateway, log, budget: new Budget(maxBytes) }
    this.publisher = new Publisher({ client, gateway, contentType, headIntervalMs, log })
  }

  /** @param {StageOptions} options */
  static async open (options) {
    const stage = new Stage(options)
    const { folder, ledger } = options
    if (ledger) await mkdir(ledger, { recursive: true })
    for (const entry of await openFolder(folder)) {
      if (entry.isDirectory()) await stage.#spool(decodeURIComponent(entry.name))
    }
    return stage
  }

  /**
   * Resolves when the batch is produced: in the spool, under the identity returned.
   * @param {import('../../gateway/batch/batch.js').Batch} batch
   */
  async append (batch) {
    return (await this.#spool(batch.source)).append(batch)
  }

  /** Why some spool waits now; null when none does. @returns {string|null} */
  get blocked () {
    for (const { blocked } of this.spools.values()) if (blocked !== null) return blocked
    return null
  }

  get state () {
    const spools = [...this.spools.values()]
    const sum = (/** @type {(spool: Spool) => number} */ of) => spools.reduce((total, spool) => total + of(spool), 0)
    return {
      connected: this.publisher.connected,
      spoolBytes: sum(spool => spool.bytes),
      unstoredBytes: sum(spool => spool.unstoredBytes),
      spoolBatches: sum(spool => spool.batches),
      maxBytes: this.options.budget.maxBytes,
      waiting: sum(spool => spool.waiting),
      accepted: sum(({ counters }) => counters.accepted),
      droppedBatches: sum(({ counters }) => counters.droppedBatches),
      droppedRows: sum(({ counters }) => counters.droppedRows),
      damagedBatches: sum(({ counters }) => counters.damagedBatches),
      refused: sum(({ counters }) => counters.refused),
      blocked: this.blocked,
      requiredSinks: [...new Set(spools.flatMap(({ requiredSinks }) => requiredSinks.saved ?? []))]
    }
  }

  /** What was handed over is written down; the client is its owner's to end. Rejects when a spool cannot be closed well. */
  async close () {
    this.publisher.close()
    await Promise.allSettled(this.#opening.values())
    const closed = await Promise.allSettled(Array.from(this.spools.values(), spool => spool.close()))
    const failed = closed.find(({ status }) => status === 'rejected')
    if (failed) throw /** @type {PromiseRejectedResult} */ (failed).reason
  }

  /** @param {string} source */
  #spool (source) {
    let opening = this.#opening.get(source)
    if (!opening) {
      opening = this.#open(source)
      this.#opening.set(source, opening)
      opening.catch(() => this.#opening.delete(source))
    }
    return opening
  }

  /** @param {string} source */
  async #open (source) {
    const name = folderName(source)
    if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
      throw new SluiceError('SLUICE_SOURCE_NAME', `The source name "${source.slice(0, 40)}…" is too long.`, {
        fix: `Keep it under ${MAX_NAME_BYTES / 2} characters.`
      })
    }
    if (this.#opening.size >= MAX_SOURCES) {
      throw new SluiceError('SLUICE_SOURCE_COUNT', `More than ${MAX_SOURCES} sources in one stage out; "${source}" is refused.`, {
        fix: 'Put what varies into a field or tag, not into the source name.'
      })
    }
    const { folder, log, ...options } = this.options
    try {
      const spool = await Spool.open({ ...options, log, source, folder: join(folder, name), encode })
      for (const sink of this.requiredSinks(source)) await spool.require(sink)
      spool.on('full', () => this.emit('full', source))
      spool.on('room', () => this.emit('room', source))
      spool.on('dropped', what => this.emit('dropped', source, what))
      this.spools.set(source, spool)
      this.publisher.add(spool)
      return spool
    } catch (error) {
      throw new SluiceError('SLUICE_SPOOL_OPEN', `The spool of "${source}" cannot be opened: ${describe(error)}.`, {
        cause: error, fix: `Check that ${join(folder, name)} is writable and its disk works.`
      })
    }
  }
}

/** @param {string} folder  created when missing */
async function openFolder (folder) {
  try {
    await mkdir(folder, { recursive: true })
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    throw new SluiceError('SLUICE_SPOOL_OPEN', `The folder of the spools cannot be opened: ${describe(error)}.`, {
      cause: error, fix: `Check that ${folder} can be created and written to.`
    })
  }
}

/** A source's name as a folder that cannot lead elsewhere. @param {string} source */
function folderName (source) {
  return encodeURIComponent(source).replace(/^\./, '%2E').replace(/\*/g, '%2A')
}
