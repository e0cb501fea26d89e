import { serverTypes, sinkTypes } from '../../databases/index.js'

/**
 * A sink as a user configures it. Plain data, so that a thread of its own can open it, too.
 * @typedef {object} SinkAddress
 * @property {string} type
 * @property {Record<string, unknown>} options  of the sink
 * @property {Record<string, unknown>} [login]  of its server, where it has one
 *
 * @typedef {{sink: import('../../databases/sink.js').Sink, close: () => Promise<void>}} Opened  `close` ends the sink and its connections
 */

/**
 * Opens a sink that is able to write on so many connections at once.
 * @param {SinkAddress} address @param {number} connections
 * @returns {Promise<Opened>}
 */
export async function openSink ({ type, options, login }, connections) {
  const { open } = await sinkTypes[type]()
  const server = login ? (await serverTypes[type]()).connect({ ...login, connections }) : null
  const sink = await open(options, { server })
  return { sink, close: () => sink.close().then(() => server?.close()) }
}

/** The table of a batch's source as the sink makes it. @param {SinkAddress} address @param {import('../../batch/batch.js').Batch} batch */
export async function makeTable (address, batch) {
  const { sink, close } = await openSink(address, 1)
  await sink.prepare([batch])
  await close()
}
