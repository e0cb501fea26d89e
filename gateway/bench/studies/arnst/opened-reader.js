import { readerTypes, serverTypes } from '../../../databases/index.js'

/**
 * A reader of what a sink of that address has stored.
 * @param {import('../../sinks/open.js').SinkAddress} address
 * @param {object} own  options of the reader
 */
export async function openReader ({ type, options, login }, own) {
  const { open } = await readerTypes[type]()
  const server = login ? (await serverTypes[type]()).connect(login) : null
  const reader = await open({ ...options, ...own }, { server }) // the file of an embedded database is among the sink's options
  return { reader, close: () => reader.close().then(() => server?.close()) }
}
