import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import { readerTypes, serverTypes } from '../../../databases/index.js'
import { decode } from '../../../messages/codecs/arrow/arrow.js'
import { SOURCE, START_NS } from './published.js'

const PAGE_ROWS = 5000

/**
 * The points that are stored: values of channels, each counted in the database.
 * @param {import('../../sinks/open.js').SinkAddress} address @param {string[]} channels
 * @returns {Promise<number>}
 */
export async function countPoints ({ type, options, login }, channels) {
  if (type === 'mongodb') return countInDocuments(/** @type {any} */ (login), channels)
  if (type === 'file') return countInFiles(String(options.folder), channels)
  const server = login ? (await serverTypes[type]()).connect({ ...login, connections: 1 }) : null
  const { open } = await readerTypes[type]()
  const reader = await open({ table: SOURCE, ...options.file ? { file: options.file } : {} }, { server })
  try {
    const range = { from: START_NS, to: START_NS + 10n ** 18n }
    const counts = await reader.summaries({ sensors: channels, ...range, statistics: ['count'], together: true })
    return counts.reduce((sum, { count = 0 }) => sum + count, 0)
  } finally {
    await reader.close()
    await server?.close()
  }
}

/**
 * By the driver: the reader would have every sample as an object of its own.
 * @param {{url: string, user: string, password: string, database: string}} login @param {string[]} channels
 */
async function countInDocuments ({ url, user, password, database }, channels) {
  const client = new MongoClient(url, user ? { auth: { username: user, password } } : {})
  try {
    let points = 0
    for await (const row of client.db(database).collection(SOURCE).find({}, { batchSize: PAGE_ROWS })) {
      for (const name of channels) if (row[name] !== undefined && row[name] !== null) points++
    }
    return points
  } finally {
    await client.close()
  }
}

/** @param {string} folder @param {string[]} channels */
function countInFiles (folder, channels) {
  let points = 0
  for (const name of readdirSync(folder).filter(each => each.endsWith('.arrow'))) {
    const { fields, validity, rows } = decode(new Uint8Array(readFileSync(join(folder, name)).subarray(8)))
    for (const [i, field] of fields.entries()) {
      if (channels.includes(field.name)) points += validity[i]?.reduce((sum, isThere) => sum + isThere, 0) ?? rows
    }
  }
  return points
}
