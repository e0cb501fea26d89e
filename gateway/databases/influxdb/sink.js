import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'
import { SluiceError } from '../../base/errors.js'
import { withDefaults } from '../../base/defaults.js'
import { keyedSink } from '../keyed/sink.js'
import { RefusedRows } from '../refusal.js'
import { agingMeasurement } from './aging.js'
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
 * @typedef {import('./connection.js').InfluxdbServer} InfluxdbServer
 * @typedef {import('./plans.js').Plan} Plan
 *
 * @typedef {object} Opened  what is known of the database
 * @property {import('./versions.js').Place} rows
 * @property {CommitRecords} commits
 */

/**
 * The server is asked when it is first needed, and again after an error: a sink whose server does not answer yet waits for it.
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: InfluxdbServer, log?: import('../../base/log.js').Log}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server, log }) {
  const options = /** @type {Record<string, any>} */ (withDefaults(schema, given))
  const lines = options.protocol === 'udp' ? new UdpStore(server, options.datagramBytes, log) : new HttpStore(server)
  const tagFields = new Set(options.tagFields.split(',').map((/** @type {string} */ name) => name.trim()))
  const narrow = options.layout === 'narrow'
  /** @type {Promise<Opened>|null} */
  let opening = null

  /** @returns {Promise<Opened>} */
  const look = async () => {
    const { rows, records } = await server.places(options.retentionPolicy)
    return { rows, commits: new CommitRecords(server, records) }
  }

  /** @type {import('../keyed/sink.js').Storage<Opened, Plan>} */
  const storage = {
    dialect,
    place: `${server.place}, database "${server.options.database}"`,
    isTransient,
    failure: 'SLUICE_SINK_INFLUXDB',
    async use (work, signal) {
      signal?.throwIfAborted()
      try {
        return await work(await (opening ??= look()))
      } catch (error) {
        // Whatever failed, the database may have changed.
        if (isTransient(error)) opening = null
        throw error
      }
    },
    async prepareCommits () {}, // with the first of them
    // A retention policy has tables of its own.
    readCommits: async ({ commits, rows }) => (await commits.read()).filter(({ table, policy }) => table === '' || policy === rows.policy),
    nameStore: ({ commits }, id) => commits.nameStore(id),
    mayNameTwice: true,
    inMemory: true,
    find: ({ commits, rows }, claims) => commits.find(claims, rows.policy),
    leave: ({ commits, rows }, records, signal) => commits.write(records.map(record => ({ ...record, policy: rows.policy })), signal),
    merge: ({ commits, rows }, merged) => commits.merge(merged.map(record => ({ ...record, policy: rows.policy }))),
    async prepareTable ({ rows: { policy } }, measurement, batch, withSource) {
      const plan = await makePlan(batch, { measurement, withSource, narrow, tagFields, policy }, server)
      checkNames(linesOf(plan, batch))
      return plan
    },
    agingTable: async ({ rows }, measurement, withSource, sources) =>
      agingMeasurement(server, rows, measurement, withSource ? sources : null),
    async store (opened, places, { signal }) {
      const batches = places.map(({ batch }) => batch)
      checkRows(batches)
      try {
        await lines.write(places.map(({ plan, batch }) => linesOf(plan, batch)), opened.rows, signal)
      } catch (error) {
        const message = error instanceof SluiceError ? error.message : ''
        if (isTransient(error)) throw error
        if (BEYOND_RETENTION.test(message)) {
          const faults = oldRows(batches, opened.rows.keptNs, error)
          if (faults.length > 0) throw new RefusedRows(faults)
        }
        if (TYPE_CONFLICT.test(message)) {
          // Another writer has created the field since it was looked at: then the next attempt sees that the batch does not fit.
          try {
            for (const { plan, batch } of places) {
              Object.assign(plan, await storage.prepareTable(opened, plan.measurement, batch, plan.withSource))
            }
          } catch (misfit) {
            throw new NotRefused(message, { cause: misfit })
          }
        }
        throw error
      }
    },
    notice: () => lines.notice,
    close: () => lines.close()
  }
  return keyedSink(options, { ...storage, arrange: batch => batch })
}

/**
 * Those of the batch itself and its tags; what is written later is its rows.
 * @param {import('../../messages/codecs/line-protocol/line-protocol.js').Lines} lines
 * @throws {SluiceError} SLUICE_SINK_IDENTIFIER
 */
function checkNames (lines) {
  encodeLines([{ ...lines, batch: lines.batch.slice(0, 0) }]).next()
}
