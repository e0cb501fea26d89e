import { SluiceError, describe } from '../../base/errors.js'
import { committedRanges, recordKey } from '../commit-records.js'
import { withDefaults } from '../../base/defaults.js'
import { arrangement, MEASUREMENTS } from '../../batch/layouts.js'
import { checkName, tableNames } from '../names.js'
import { isRefusal } from '../refusal.js'
import { shapeOf, wideColumns } from '../wide.js'
import { CommitRecords } from './commit-records.js'
import { CopyIn } from './copy-in.js'
import { dialect } from './dialect.js'
import { schema } from './sink.schema.js'
import { prepareTable } from './tables.js'
import { begin, LOCKS } from './transaction.js'

export { schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('./tables.js').Plan} Plan
 * @typedef {import('./connection.js').Client} Client
 * @typedef {import('./connection.js').PostgresqlServer} PostgresqlServer
 */

/**
 * SQLSTATEs by which the server says that the rows are at fault: cardinality, data, constraints, check options, program limits, and what a
 * user's trigger raises.
 * 22P03 and 22P04 are not: a column changed its type since the table was looked at, and the next attempt will see that.
 */
const REFUSED = /^(2[123]|44|54)(?!P0[34])|^P0001$/

const MAX_SHAPES = 1000

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, ({ code }) => typeof code === 'string' && code.length === 5 && REFUSED.test(code))
}

/**
 * Connects when it is first needed, and again after an error: a sink whose server is not there yet waits for it.
 * @param {Record<string, unknown>} options  see the schema
 * @param {{server: PostgresqlServer}} context
 * @returns {Promise<Sink>}
 */
export async function open (options, { server }) {
  return new PostgresqlSink(withDefaults(schema, options), server)
}

/** @implements {Sink} */
class PostgresqlSink {
  #options
  #names
  #commits
  #server
  #arrange
  /** @type {Map<string, Plan>} */
  #plans = new Map()
  #hasCommits = false

  /** @param {Record<string, any>} options @param {PostgresqlServer} server */
  constructor (options, server) {
    this.#options = options
    this.#names = tableNames(options.table, dialect)
    this.#commits = new CommitRecords(checkName(options.schema, 'schema', dialect))
    this.#server = server
    this.#arrange = arrangement(/** @type {any} */ (options))
  }

  /** @param {Batch[]} batches */
  async prepare (batches) {
    if (this.#hasCommits && batches.every(batch => batch.rows === 0 || this.#plans.has(shapeOf(batch)))) return
    await this.#attempt(client => this.#plansOf(client, batches))
  }

  async committed () {
    return this.#attempt(async client => committedRanges((await this.#commits.read(client)).filter(row => this.#owns(row))))
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    return this.#attempt(async (client, encoder) => {
      const plans = await this.#plansOf(client, batches)
      await begin(client, LOCKS.claiming)
      const { fresh, duplicates } = await this.#claim(client, batches, probe)
      /** @type {Map<Plan, import('./copy-in.js').Copy>} */
      const copies = new Map()
      for (const batch of fresh) {
        const placed = plans.get(batch)
        if (!placed) continue
        const { plan, arranged } = placed
        const copy = copies.get(plan) ?? { sql: plan.copySql, columns: plan.columns, batches: [] }
        copy.batches.push(arranged)
        copies.set(plan, copy)
      }
      const copyIn = new CopyIn([...copies.values()], probe ? 'SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK' : 'COMMIT', encoder)
      client.query(copyIn)
      await copyIn.done
      return { duplicates }
    }, signal)
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    await this.#attempt(client => this.#commits.compact(client, heads, row => this.#owns(row)))
  }

  /** The connections are the server's. */
  async close () {}

  /**
   * Leaves the commit records, and tells the batches that had none from those that had.
   * @param {Client} client
   * @param {Batch[]} batches
   * @param {boolean} probe  in which several slices of one batch are all to be tried
   */
  async #claim (client, batches, probe) {
    const wanted = batches.flatMap(({ identity }) => identity ? { ...identity, table: this.#names.inRecords(identity.source) } : [])
    const claimed = new Set((await this.#commits.claim(client, wanted)).map(recordKey))
    const isClaimed = (/** @type {string} */ key) => probe ? claimed.has(key) : claimed.delete(key)
    const { fresh = [], duplicates = [] } = Object.groupBy(batches, ({ identity }) => !identity || isClaimed(recordKey(identity)) ? 'fresh' : 'duplicates')
    return { fresh, duplicates }
  }

  /** Where each batch with rows goes, arranged for it. @param {Client} client @param {Batch[]} batches */
  async #plansOf (client, batches) {
    /** @type {Map<Batch, {plan: Plan, arranged: Batch}>} */
    const plans = new Map()
    for (const batch of batches) {
      const arranged = this.#arrange(batch)
      if (arranged.rows > 0) plans.set(batch, { arranged, plan: await this.#planOf(client, shapeOf(batch), arranged) })
    }
    return plans
  }

  /** @param {Client} client @param {string} shape @param {Batch} batch  arranged */
  async #planOf (client, shape, batch) {
    let plan = this.#plans.get(shape)
    if (!plan) {
      const json = this.#options.layout === 'document' ? MEASUREMENTS : undefined
      const wanted = wideColumns(batch, dialect, !this.#names.perSource, json)
      plan = await prepareTable(client, { .../** @type {any} */ (this.#options), name: this.#names.of(batch.source) }, wanted)
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
   * @param {(client: Client, encoder: import('./copy-encoder.js').CopyEncoder) => Promise<T>} work
   * @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async #attempt (work, signal) {
    try {
      return await this.#server.use(async (client, encoder) => {
        if (!this.#hasCommits) await this.#commits.prepare(client)
        this.#hasCommits = true
        return work(client, encoder)
      }, signal)
    } catch (error) {
      if (signal?.aborted || error instanceof SluiceError) throw error
      if (isTransient(error)) this.#forgetTables()
      throw new SluiceError('SLUICE_SINK_POSTGRESQL', `${this.#server.place}: ${describe(error)}${whereOf(error)}.`, { cause: error })
    }
  }

  /** They may have been dropped or changed. */
  #forgetTables () {
    this.#plans.clear()
    this.#hasCommits = false
  }
}

/** @param {any} error  of the server, which may tell where it happened */
function whereOf ({ where }) {
  return where ? ` (${where.split('\n')[0]})` : ''
}
