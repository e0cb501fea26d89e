import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SqliteStore } from '../stores/sqlite.js'

const BUSY_TIMEOUT_MS = 10_000

export const title = 'SQLite'

export async function missing () {
  return null
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const file = join(folder, 'chaos.sqlite')
  const copy = join(folder, 'copy.sqlite')
  return {
    type: 'sqlite',
    sink: { file },
    restorable: {
      async save () {
        if (!existsSync(file)) return
        await rm(copy, { force: true })
        const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS })
        try {
          database.exec(`VACUUM INTO '${copy}'`)
        } finally {
          database.close()
        }
      },
      async restore () {
        if (!existsSync(copy)) return
        for (const suffix of ['-wal', '-shm']) await rm(file + suffix, { force: true }) // first: they belong to what it replaces
        await rename(copy, file)
      }
    },
    openStore: async () => new SqliteStore(file),
    async stop () {}
  }
}
