import { setTimeout as sleep } from 'node:timers/promises'
import { SluiceError, describe } from '../../base/errors.js'
import { committedRanges, recordKey } from '../commit-records.js'
import { withDefaults } from '../../base/defaults.js'
import { tableNames } from '../names.js'
import { shapeOf } from '../wide.js'
import { claim, compactCommits, prepareCommits, readCommits } from './commit-records.js'
import { dialect } from './dialect.js'
import { insertRows } from './insert.js'
import { layoutOf } from './layouts.js'
import { loadRows } from './load.js'
import { checkWarnings, isTransient, refuseInfinities } from './refused.js'
import { schema } from './sink.schema.js'
import { prepareTable, tableName } from './tables.js'

export { isTransient, schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('./tables.js').Plan} Plan
 * @typedef {import('./session.js').Connection} Connection
 * @typedef {import('./session.js').Facts} Facts
 * @typedef {import('./connection.js').MysqlServer} MysqlServer
 */

const MAX_SHAPES = 1000

/** The server has undone one of two transactions that waited for each other, which is to be tried again. */
const DEADLOCK = 1213
const DEADLOCK_RETRIES = 5
const DEADLOCK_PAUSE_MS = 10

/** By which servers, and what stands before them, say that LOAD DATA LOCAL is not allowed. */
const NO_LOCAL_INFILE = [1148, 3948, 4166]

/**
 * Connects when it is first needed, and again after an error: a sink whose server is not there yet waits for it.
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server: MysqlServer}} context
 * @returns {Promise<Sink>}
 */
export async function open (options, { server }) {
  return new MysqlSink(withDefaults(schema, options), server)
}

/** @implements {Sink} */
class MysqlSink {
  #names
  #layout
  #server
  /** @type {Map<string, Plan>} */
  #plans = new Map()
  #hasCommits = false

  /** @param {Record<string, any>} options @param {MysqlServer} server */
  constructor (options, server) {
    this.#names = tableNames(options.table, dialect)
    this.#layout = layoutOf(/** @type {any} */ (options))
    this.#server = server
  }

  /** @param {Batch[]} batches */
  async prepare (batches) {
    if (this.#hasCommits && batches.every(batch => batch.rows === 0 || this.#plans.has(shapeOf(batch)))) return
    await this.#attempt((connection, facts) => this.#plansOf(connection, facts, batches))
  }

  async committed () {
    return this.#attempt(async connection => committedRanges((await readCommits(connection)).filter(row => this.#owns(row))))
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    if (this.#layout.holdsFloats) refuseInfinities(batches)
    return this.#attempt(async (connection, facts) => {
      const plans = await this.#plansOf(connection, facts, batches)
      for (let retries = DEADLOCK_RETRIES; ; retries--) {
        try {
          return await this.#store(connection, facts, batches, plans, probe)
        } catch (error) {
          if (retries === 0 || /** @type {any} */ (error).errno !== DEADLOCK) throw error
          await sleep(Math.random() * DEADLOCK_PAUSE_MS)
        }
      }
    }, signal)
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    await this.#attempt(connection => compactCommits(connection, heads, row => this.#owns(row)))
  }

  /** The connections are the server's. */
  async close () {}

  /**
   * One transaction.
   * @param {Connection} connection
   * @param {Facts} facts
   * @param {Batch[]} batches
   * @param {Map<Batch, {plan: Plan, arranged: Batch}>} plans
   * @param {boolean} probe
   */
  async #store (connection, facts, batches, plans, probe) {
    await connection.query('START TRANSACTION')
    const { fresh, duplicates } = await this.#claim(connection, batches, probe)
    const byPlan = Map.groupBy(fresh.flatMap(batch => plans.get(batch) ?? []), ({ plan }) => plan)
    for (const [plan, placed] of byPlan) await storeRows(connection, facts, plan, placed.map(({ arranged }) => arranged))
    await connection.query(probe ? 'ROLLBACK' : 'COMMIT')
    return { duplicates }
  }

  /**
   * Leaves the commit records, and tells the batches that had none from those that had.
   * @param {Connection} connection
   * @param {Batch[]} batches
   * @param {boolean} probe  in which several slices of one batch are all to be tried
   */
  async #claim (connection, batches, probe) {
    const wanted = new Map(batches.flatMap(({ identity }) => identity ? [[recordKey(identity), { ...identity, table: this.#names.inRecords(identity.source) }]] : []))
    const claimed = wanted.size > 0 ? await claim(connection, [...wanted.values()]) : new Set()
    const isClaimed = (/** @type {string} */ key) => probe ? claimed.has(key) : claimed.delete(key)
    const { fresh = [], duplicates = [] } = Object.groupBy(batches, ({ identity }) => !identity || isClaimed(recordKey(identity)) ? 'fresh' : 'duplicates')
    return { fresh, duplicates }
  }

  /** Where each batch with rows goes, arranged for it. @param {Connection} connection @param {Facts} facts @param {Batch[]} batches */
  async #plansOf (connection, facts, batches) {
    /** @type {Map<Batch, {plan: Plan, arranged: Batch}>} */
    const plans = new Map()
    for (const batch of batches) {
      const arranged = this.#layout.arrange(batch)
      if (arranged.rows > 0) plans.set(batch, { arranged, plan: await this.#planOf(connection, facts, shapeOf(batch), arranged) })
    }
    return plans
  }

  /** @param {Connection} connection @param {Facts} facts @param {string} shape @param {Batch} batch  arranged */
  async #planOf (connection, facts, shape, batch) {
    let plan = this.#plans.get(shape)
    if (!plan) {
      const { perSource } = this.#names
      const name = tableName(this.#names.of(batch.source), perSource, facts)
      plan = await prepareTable(connection, facts, name, this.#layout, this.#layout.columns(batch, !perSource))
      if (this.#plans.size >= MAX_SHAPES) this.#plans.clear()
      this.#plans.set(shape, plan)
    }
    return plan
  }

  /** @param {{source: string, table: string}} row */
  #owns ({ source, table }) {
    return this.#names.inRecords(source) === table
  }

  /**
   * @template T
   * @param {(connection: Connection, facts: Facts) => Promise<T>} work
   * @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async #attempt (work, signal) {
    try {
      return await this.#server.use(async (connection, facts) => {
        if (!this.#hasCommits) await prepareCommits(connection)
        this.#hasCommits = true
        return work(connection, facts)
      }, signal)
    } catch (error) {
      if (signal?.aborted || error instanceof SluiceError) throw error
      if (isTransient(error)) this.#forgetTables()
      if (NO_LOCAL_INFILE.includes(/** @type {any} */ (error).errno)) this.#server.refuseFiles()
      throw new SluiceError('SLUICE_SINK_MYSQL', `${this.#server.place}: ${describe(error)}.`, { cause: error, fix: FIXES[/** @type {any} */ (error).errno] })
    }
  }

  /** They may have been dropped or changed. */
  #forgetTables () {
    this.#plans.clear()
    this.#hasCommits = false
  }
}

/** @type {Record<number, string>} */
const FIXES = {
  1044: 'Grant the user rights on the database, LOCK TABLES among them.',
  1142: 'Grant the user that right on the database.',
  1665: 'Set the server\'s binlog_format to ROW or MIXED.'
}

/**
 * @param {Connection} connection
 * @param {Facts} facts
 * @param {Plan} plan
 * @param {Batch[]} batches  arranged
 */
async function storeRows (connection, { localInfile, maxPacketBytes }, plan, batches) {
  const rows = batches.reduce((sum, batch) => sum + batch.rows, 0)
  let stored = 0
  if (localInfile) {
    const result = await loadRows(connection, plan, batches)
    await checkWarnings(connection, result)
    stored = result.affectedRows
  } else {
    for await (const result of insertRows(connection, plan, batches, maxPacketBytes)) {
      await checkWarnings(connection, result)
      stored += result.affectedRows
    }
  }
  if (stored !== rows) throw new Error(`the server has stored ${stored} of ${rows} rows in table "${plan.table}", and does not say why`)
}
