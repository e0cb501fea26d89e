import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'
import { SluiceError } from '../../base/errors.js'
import { decide, wantedRecords } from '../claims.js'
import { committedRecords } from '../commit-records.js'
import { withDefaults } from '../../base/defaults.js'
import { tableNames } from '../names.js'
import { RecordSet } from '../record-set.js'
import { RefusedRows } from '../refusal.js'
import { SeldomCheck } from '../seldom-check.js'
import { shapeOf } from '../wide.js'
import { AgingPoints } from './aging.js'
import { CommitRecords } from './commit-records.js'
import { dialect } from './dialect.js'
import { linesOf, makePlan } from './plans.js'
import { BEYOND_RETENTION, checkRows, isTransient, NotRefused, oldRows, TYPE_CONFLICT } from './refused.js'
import { schema } from './sink.schema.js'
import { HttpStore } from './store.js'
import { UdpStore } from './udp.js'

export { isTransient, schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('./connection.js').InfluxdbServer} InfluxdbServer
 * @typedef {import('./versions.js').Place} Place
 * @typedef {import('./commit-records.js').CommitRecord} CommitRecord
 *
 * @typedef {object} Opened  what is known of the database
 * @property {Place} rows
 * @property {CommitRecords} commits
 * @property {RecordSet} known  what has a record
 * @property {Map<string, import('./plans.js').Plan>} plans
 */

const MAX_SHAPES = 1000

/**
 * The server is asked when it is first needed, and again after an error: a sink whose server does not answer yet waits for it.
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server: InfluxdbServer, log?: import('../../base/log.js').Log}} context
 * @returns {Promise<Sink>}
 */
export async function open (options, { server, log }) {
  return new InfluxdbSink(withDefaults(schema, options), server, log)
}

/** @implements {Sink} */
class InfluxdbSink {
  #options
  #names
  #server
  #store
  #tagFields
  #aging
  #last = new SeldomCheck()
  /** @type {Promise<Opened>|null} */
  #opening = null

  /** @param {Record<string, any>} options @param {InfluxdbServer} server @param {import('../../base/log.js').Log} [log] */
  constructor (options, server, log) {
    this.#options = options
    this.#names = tableNames(options.table, dialect)
    this.#server = server
    this.#aging = new AgingPoints(server, this.#names)
    this.#store = options.protocol === 'udp' ? new UdpStore(server, options.datagramBytes, log) : new HttpStore(server)
    this.#tagFields = new Set(options.tagFields.split(',').map((/** @type {string} */ name) => name.trim()))
  }

  /** @param {Batch[]} batches */
  async prepare (batches) {
    await this.#attempt(async opened => {
      for (const batch of batches) {
        const lines = await this.#lines(opened, batch)
        if (lines) checkNames(lines)
      }
    })
  }

  async committed () {
    return this.#attempt(async opened => {
      const before = this.#last.all
      const { store, records } = await opened.commits.readAll()
      const own = records.filter(record => this.#owns(opened, record))
      opened.known = knownOf(own)
      return { store, records: committedRecords(own), isSetBack: this.#last.read(before, own) }
    })
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    signal?.throwIfAborted()
    this.#aging.note(batches)
    return this.#attempt(async opened => {
      const wanted = wantedRecords(batches, source => this.#names.inRecords(source))
      const { fresh, duplicates, clashes, records } = decide(batches, wanted, claim => opened.known.find(claim), probe)
      checkRows(fresh)
      const found = await this.#lastRecords(opened, duplicates.length + clashes.length > 0)
      const parts = (await Promise.all(fresh.map(batch => this.#lines(opened, batch)))).flatMap(lines => lines ?? [])
      await this.#storeLines(opened, parts, fresh, signal)
      if (!probe) {
        await opened.commits.write(records.map(record => ({ ...record, policy: opened.rows.policy })), signal)
        for (const record of records) opened.known.add(record)
        this.#last.committed(found, records)
      }
      return { duplicates, clashes }
    })
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    await this.#attempt(async opened => {
      const merged = await opened.commits.merge(await this.#ownRecords(opened), heads)
      for (const record of merged) opened.known.add(record)
    })
  }

  /** @type {NonNullable<Sink['span']>} */
  async span () {
    return this.#attempt(async opened => {
      this.#aging.note(await this.#ownRecords(opened))
      return this.#aging.span(opened.rows)
    })
  }

  /** @type {NonNullable<Sink['removeBefore']>} */
  async removeBefore (before) {
    return this.#attempt(({ rows }) => this.#aging.removeBefore(rows, before))
  }

  notice () { return this.#store.notice }

  /** The connections are the server's. */
  async close () {
    await this.#store.close()
  }

  /**
   * @param {Opened} opened
   * @param {import('../../messages/codecs/line-protocol/line-protocol.js').Lines[]} parts
   * @param {Batch[]} batches  that they are of
   * @param {AbortSignal} [signal]
   */
  async #storeLines (opened, parts, batches, signal) {
    try {
      await this.#store.write(parts, opened.rows, signal)
    } catch (error) {
      const message = error instanceof SluiceError ? error.message : ''
      if (isTransient(error)) throw error
      if (BEYOND_RETENTION.test(message)) {
        const faults = oldRows(batches, opened.rows.keptNs, error)
        if (faults.length > 0) throw new RefusedRows(faults)
      }
      if (TYPE_CONFLICT.test(message)) {
        // Another writer has created the field since it was looked at: then the next attempt sees that the batch does not fit.
        opened.plans.clear()
        try {
          for (const { batch } of parts) await this.#lines(opened, batch)
        } catch (misfit) {
          throw new NotRefused(message, { cause: misfit })
        }
      }
      throw error
    }
  }

  /** What is written of a batch; null of one without rows. @param {Opened} opened @param {Batch} batch */
  async #lines ({ plans, rows }, batch) {
    if (batch.rows === 0) return null
    const shape = shapeOf(batch)
    let plan = plans.get(shape)
    if (!plan) {
      const measurement = this.#names.of(batch.source)
      const options = {
        measurement,
        withSource: !this.#names.perSource,
        narrow: this.#options.layout === 'narrow',
        tagFields: this.#tagFields,
        policy: rows.policy
      }
      plan = await makePlan(batch, options, this.#server)
      if (plans.size >= MAX_SHAPES) plans.clear()
      plans.set(shape, plan)
    }
    return linesOf(plan, batch)
  }

  /** @param {Opened} opened @param {boolean} isDue */
  #lastRecords ({ commits, rows }, isDue) {
    const place = `${this.#server.place}, database "${rows.database}"`
    return this.#last.find(isDue, claims => commits.missing(claims, rows.policy), place)
  }

  /** @param {Opened} opened */
  async #ownRecords (opened) {
    return (await opened.commits.read()).filter(record => this.#owns(opened, record))
  }

  /** @param {Opened} opened @param {CommitRecord} record */
  #owns ({ rows }, { policy, source, table }) {
    return policy === rows.policy && table === this.#names.inRecords(source)
  }

  /**
   * @template T
   * @param {(opened: Opened) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (work) {
    try {
      return await work(await this.#open())
    } catch (error) {
      // Whatever failed, the database may have changed.
      if (isTransient(error)) this.#opening = null
      throw error
    }
  }

  #open () {
    this.#opening ??= this.#look()
    return this.#opening
  }

  /** @returns {Promise<Opened>} */
  async #look () {
    const { rows, records } = await this.#server.places(this.#options.retentionPolicy)
    const opened = { rows, commits: new CommitRecords(this.#server, records), known: new RecordSet(), plans: new Map() }
    opened.known = knownOf(await this.#ownRecords(opened))
    return opened
  }
}

/**
 * Those of the batch itself and its tags; what is written later is its rows.
 * @param {import('../../messages/codecs/line-protocol/line-protocol.js').Lines} lines
 * @throws {SluiceError} SLUICE_SINK_IDENTIFIER
 */
function checkNames (lines) {
  encodeLines([{ ...lines, batch: lines.batch.slice(0, 0) }]).next()
}

/** @param {CommitRecord[]} records */
function knownOf (records) {
  const known = new RecordSet()
  for (const record of records) known.add(record)
  return known
}
