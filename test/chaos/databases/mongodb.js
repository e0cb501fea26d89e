import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { killTree } from '../rig/kill-tree.js'
import { MongodbStore } from '../stores/mongodb.js'

export const title = 'MongoDB'

const DATABASE = 'chaos'

export async function missing () {
  const { missingMongodb } = await import('../../servers/mongodb.js')
  return missingMongodb()
}

/**
 * FerretDB, and the PostgreSQL that it stores in, are killed together.
 * @param {string} folder
 * @returns {Promise<import('./index.js').Database>}
 */
export async function start (folder) {
  const { startMongodb } = await import('../../servers/mongodb.js')
  const server = await startMongodb({ dir: folder })
  const { url } = server
  return {
    type: 'mongodb',
    sink: {},
    server: { url, database: DATABASE },
    process: {
      start: () => server.start(),
      kill: async () => killTree({ pid: await postmaster(folder), kill: () => server.kill() })
    },
    openStore: () => MongodbStore.open({ url, database: DATABASE }),
    stop: () => server.stop()
  }
}

/** The process id of PostgreSQL, from its first line of the file where it says so. @param {string} folder */
async function postmaster (folder) {
  const [line] = (await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8')).split('\n')
  return Number(line)
}
