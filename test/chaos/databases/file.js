import { join } from 'node:path'
import { FileStore } from '../stores/file.js'

export const title = 'files'

export async function missing () {
  return null
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const files = join(folder, 'data')
  return {
    type: 'file',
    sink: { folder: files, format: 'csv', timeFormat: 'ns' },
    openStore: async () => new FileStore(files),
    async stop () {}
  }
}
