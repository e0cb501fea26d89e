import { readerTypes, serverTypes, sinkTypes } from '../../../databases/index.js'
import { keysAsked, lookUp } from '../../../queries/lookup.js'

/**
 * What a Sluice flow does with a message, `read by key → function → sink`, with one connection: the sink's own upsert, the lookup of the
 * *read by key* node.
 *
 * @typedef {import('../../../databases/reader.js').KeyedRow} KeyedRow
 */

const KEY = ['id']

/**
 * @param {import('../../sinks/open.js').SinkAddress} address
 * @param {string} table
 */
export async function openOperator ({ type, options, login }, table) {
  const server = login ? (await serverTypes[type]()).connect({ ...login, connections: 1 }) : null
  const sink = await (await sinkTypes[type]()).open({ ...options, layout: 'upsert', key: KEY }, { server })
  const { open } = await readerTypes[type]()
  /** @type {import('../../../databases/reader.js').Reader|undefined} */
  let reader

  return {
    prepare: sink.prepare.bind(sink),

    /** @param {import('../../../batch/batch.js').Batch} batch */
    async store (batch) { await sink.write([batch]) },

    /** In their order, null for one that is not there. @param {string[]} ids @returns {Promise<(KeyedRow|null)[]>} */
    async read (ids) {
      reader ??= await open({ ...'file' in options && { file: options.file }, table }, { server })
      return lookUp(reader, KEY, keysAsked(ids, KEY))
    },

    async close () {
      await reader?.close()
      await sink.close()
      await server?.close()
    }
  }
}
