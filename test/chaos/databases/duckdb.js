import { join } from 'node:path'
import { loadDuckdb } from '../../../gateway/databases/duckdb/instance.js'
import { DuckdbStore } from '../stores/duckdb.js'

export const title = 'DuckDB'

/** @returns {Promise<string|null>} */
export function missing () {
  return loadDuckdb().then(() => null, error => error.message)
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const file = join(folder, 'chaos.duckdb')
  return {
    type: 'duckdb',
    sink: { file },
    openStore: async () => new DuckdbStore(file),
    async stop () {}
  }
}
