import { resolve } from 'node:path'
import { readerTypes, serverTypes } from '../../gateway/databases/index.js'
import { dataDir, logOf } from '../node.js'
import { leaseServer } from '../sinks/server-node.js'
import { propertyOf, serverProperty } from './reader-options.js'

/** The file of a database that is one. @param {import('../node.js').RED} RED @param {any} options @param {{properties: object}} schema */
export function fileOf (RED, options, schema) {
  return resolve(dataDir(RED), options[propertyOf(schema, options.database, 'file')])
}

/**
 * A reader as a node's options describe it. Its lease of a server is to be released after it is closed.
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {any} options
 * @param {{properties: object}} schema  of the node
 * @returns {Promise<{reader: import('../../gateway/databases/reader.js').Reader, release: () => void}>}
 */
export async function openReader (RED, node, options, schema) {
  const { database } = options
  const reading = await readerTypes[database]()
  const own = Object.keys(/** @type {any} */ (reading.schema).properties).filter(name => name in options)
  const its = Object.fromEntries(own.map(name => [name, options[propertyOf(schema, database, name)]]))
  if ('file' in its) its.file = fileOf(RED, options, schema)
  const lease = database in serverTypes ? await leaseServer(RED, options[serverProperty(database)]) : undefined
  const release = () => lease?.release()
  try {
    return { reader: await reading.open(its, { server: lease?.server, log: logOf(node) }), release }
  } catch (error) {
    release()
    throw error
  }
}
