import { withDefaults } from '../../base/defaults.js'
import { encodeWarp10 } from '../../messages/codecs/warp10/encode.js'
import { storeRecord } from '../commit-records.js'
import { AnswerError } from '../http.js'
import { HttpStore } from '../influxdb/store.js'
import { keyedSink, lending } from '../keyed/sink.js'
import { isRefusal } from '../refusal.js'
import { mergeCommits, nameStore, readCommits, writeCommits } from './commit-records.js'
import { FIRST_TICK } from './connection.js'
import { dialect } from './dialect.js'
import { firstTick, lastTick } from './ranges.js'
import { schema } from './sink.schema.js'
import { all } from './selector.js'
import { checkTimes, makePlan, seriesOf } from './series.js'

export { schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./connection.js').Warp10Server} Warp10Server
 * @typedef {{unitNs: bigint}} Session
 */

/** How the server says that a line is at fault: lines before it may be stored. */
const REFUSED = /Parse error at index/

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, cause => cause instanceof AnswerError && cause.status === 400 && REFUSED.test(cause.message))
}

/**
 * @param {Record<string, unknown>} given  see the schema
 * @param {{server: Warp10Server}} context
 * @returns {Promise<import('../sink.js').Sink>}
 */
export async function open (given, { server }) {
  const options = /** @type {any} */ (withDefaults(schema, given))
  const isList = options.format === 'multi-value' || options.format === 'uncompressed'
  const session = { unitNs: 0n }
  const encode = function * (/** @type {{plan: import('./series.js').Plan, batch: Batch}[]} */ parts) {
    for (const { plan, batch } of parts) {
      yield * encodeWarp10(seriesOf(plan, batch, session.unitNs), options.format, { unitNs: session.unitNs, isExact: true })
    }
  }
  const store = new HttpStore({ write: (_place, lines, signal) => server.write(lines, signal) }, encode)
  /** @type {import('../keyed/sink.js').Storage<Session, import('./series.js').Plan>} */
  const storage = {
    dialect,
    place: server.place,
    isTransient,
    failure: 'SLUICE_SINK_WARP10',
    arrange: batch => batch,
    use: lending(() => session),
    async prepareCommits () {
      session.unitNs = (await server.facts()).unitNs
    },
    readCommits: () => readCommits(server),
    nameStore: (_session, id) => nameStore(server, storeRecord(id)),
    mayNameTwice: true,
    inMemory: true,
    find: (_session, claims) => readCommits(server, claims),
    leave: (_session, records, signal) => writeCommits(server, records, signal),
    merge: (_session, merged) => mergeCommits(server, merged),
    prepareTable: (_session, name, arranged, withSource) => makePlan(server, { name, arranged, withSource }, isList),
    async agingTable ({ unitNs }, name, withSource, sources) {
      const selectors = withSource ? sources.map(source => all({ id: name, source })) : [all({ id: name })]
      return {
        isOwned: true,
        async span () {
          const selector = all({ id: name })
          const newest = await lastTick(server, selector)
          if (newest === null) return null
          const oldest = await firstTick(server, selector)
          return { oldest: (oldest ?? newest) * unitNs, newest: newest * unitNs }
        },
        async removeBefore (before) {
          for (const selector of selectors) await server.remove(selector, FIRST_TICK, before / unitNs - 1n)
          return 0 // the server does not tell
        }
      }
    },
    async store ({ unitNs }, places, { signal }) {
      checkTimes(places.map(({ batch }) => batch), unitNs)
      await store.write(places, { database: '', policy: '', keptNs: 0n }, signal)
    }
  }
  return keyedSink(options, storage)
}
