import { Warp10Store } from '../stores/warp10.js'

export const title = 'Warp 10'

export async function missing () {
  const { missingWarp10 } = await import('../../servers/warp10.js')
  return missingWarp10()
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startWarp10 } = await import('../../servers/warp10.js')
  const server = await startWarp10({ dir: folder })
  const { port, tokens: [tokens] } = server
  return {
    type: 'warp10',
    sink: {},
    server: { host: '127.0.0.1', port },
    credentials: { ...tokens },
    process: { start: () => server.start(), kill: () => server.kill() },
    openStore: async () => new Warp10Store({ port, ...tokens }),
    stop: () => server.stop()
  }
}
