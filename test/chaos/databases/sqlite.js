import { join } from 'node:path'
import { SqliteStore } from '../stores/sqlite.js'

export const title = 'SQLite'

export async function missing () {
  return null
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const file = join(folder, 'chaos.sqlite')
  return {
    type: 'sqlite',
    sink: { file },
    openStore: async () => new SqliteStore(file),
    async stop () {}
  }
}
