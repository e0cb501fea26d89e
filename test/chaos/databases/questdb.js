import { QuestdbStore } from '../stores/questdb.js'

export const title = 'QuestDB'

export async function missing () {
  const { missingQuestdb } = await import('../../servers/questdb.js')
  return missingQuestdb()
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startQuestdb } = await import('../../servers/questdb.js')
  const server = await startQuestdb({ dir: folder })
  const { port } = server
  return {
    type: 'questdb',
    sink: {},
    server: { host: '127.0.0.1', port },
    process: { start: () => server.start(), kill: () => server.kill() },
    openStore: async () => new QuestdbStore(port),
    stop: () => server.stop()
  }
}
