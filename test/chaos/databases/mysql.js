import { join } from 'node:path'
import { restorableFolder } from './restorable-folder.js'
import { MysqlStore } from '../stores/mysql.js'

export const title = 'MariaDB'

export async function missing () {
  const { missingMariadb } = await import('../../servers/mariadb.js')
  return missingMariadb() && 'MariaDB is not installed. On Debian: apt-get install mariadb-server'
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startMariadb } = await import('../../servers/mariadb.js')
  const server = await startMariadb({ dir: folder })
  const { port, user, password, database } = server
  return {
    type: 'mysql',
    sink: {},
    server: { host: '127.0.0.1', port, database },
    credentials: { user, password },
    process: { start: () => server.start(), kill: () => server.kill() },
    restorable: restorableFolder(join(folder, 'data')),
    openStore: () => MysqlStore.open(server),
    stop: () => server.stop()
  }
}
