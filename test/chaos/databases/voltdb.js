import { VoltdbStore } from '../stores/voltdb.js'

export const title = 'VoltDB'

export async function missing () {
  const { missingVoltdb } = await import('../../servers/voltdb.js')
  return missingVoltdb()
}

/**
 * A server that is killed has lost all: that is no kill, but a setting back, to nothing.
 * @returns {Promise<import('./index.js').Database>}
 */
export async function start () {
  const { startVoltdb } = await import('../../servers/voltdb.js')
  const server = await startVoltdb()
  const { port } = server
  return {
    type: 'voltdb',
    sink: {},
    server: { host: '127.0.0.1', port },
    restorable: {
      async save () {},
      async restore () {
        await server.kill()
        await server.start()
      }
    },
    openStore: async () => new VoltdbStore(port),
    stop: () => server.remove()
  }
}
