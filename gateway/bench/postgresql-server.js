import pg from 'pg'
import { refuseWhatIsThere } from './empty.js'

/**
 * A PostgreSQL server with an empty database, started or the user's own, and a connection to it.
 * @param {import('./servers.js').Servers} servers
 * @param {string} folder
 */
export async function openPostgresql (servers, folder) {
  const server = await servers('postgresql').start({ folder })
  const { host, port, user, password, database } = server
  const login = { host, port, user, password, database }
  const pool = new pg.Pool({ ...login, max: 1 })
  // The server may go away; the next query connects again.
  pool.on('error', () => {})
  pool.on('connect', client => client.on('error', () => {}))
  /** @param {string} sql @param {unknown[]} [values] */
  const query = (sql, values) => pool.query(sql, values)
  const tables = async () => {
    const { rows } = await query('SELECT tablename FROM pg_tables WHERE schemaname = current_schema()')
    return rows.map(({ tablename }) => String(tablename))
  }
  const clear = async () => {
    for (const table of await tables()) await query(`DROP TABLE "${table}"`)
  }
  await refuseWhatIsThere(server, tables)
  return {
    server,
    watched: server.watched,
    login,
    query,
    tables,
    clear,
    async remove () {
      if (!server.remove) await clear()
      await pool.end()
      await server.remove?.()
    }
  }
}
