import { join } from 'node:path'
import { restorableFolder } from './restorable-folder.js'
import { PostgresqlStore } from '../stores/postgresql.js'
import { killTree } from '../rig/kill-tree.js'

export const title = 'PostgreSQL'

export async function missing () {
  const { postgresqlPrograms } = await import('../../servers/postgresql.js')
  return postgresqlPrograms() ? null : 'PostgreSQL is not installed. On Debian: apt-get install postgresql'
}

/** @param {string} folder @returns {Promise<import('./index.js').Database>} */
export async function start (folder) {
  const { startPostgresql } = await import('../../servers/postgresql.js')
  const server = await startPostgresql({ dir: folder })
  const { port, user, password, database } = server
  return {
    type: 'postgresql',
    sink: {},
    server: { host: '127.0.0.1', port, database },
    credentials: { user, password },
    process: { start: () => server.start(), kill: () => killTree(server) },
    restorable: restorableFolder(join(folder, 'data')),
    openStore: () => PostgresqlStore.open(server),
    stop: () => server.stop()
  }
}
