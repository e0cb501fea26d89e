import { said } from '../../stats/phrases.js'

/** @typedef {import('../../databases/postgresql/connection.js').PostgresqlServer} Server */

export const resolutionMs = 1

const TIME = 'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms'

const MODE = 'SELECT pg_is_in_recovery() OR current_setting(\'default_transaction_read_only\') = \'on\' AS "isReadOnly"'

/** The tables that sinks have made, or were told to use, and what of them is denied; the schemas in which they cannot make any. */
const LACKING = `
  SELECT 'CREATE in the schema ' || nspname AS lacking FROM pg_namespace
  WHERE nspname = ANY($1) AND NOT has_schema_privilege(oid, 'CREATE')
  UNION ALL
  SELECT privilege || ' on ' || n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
    unnest(ARRAY['SELECT', 'INSERT']) AS privilege
  WHERE n.nspname = ANY($1) AND c.relkind IN ('r', 'p') AND NOT has_table_privilege(c.oid, privilege)
    AND (c.relname = ANY($2) OR c.relname = 'sluice_commits' OR obj_description(c.oid, 'pg_class') = 'Sluice')`

/** @param {Server} server @returns {Promise<number>} */
export async function timeMs (server) {
  return server.read(async client => (await client.query(TIME)).rows[0].ms)
}

/** @param {Server} server @param {Record<string, any>[]} sinks @returns {Promise<import('./index.js').Rights>} */
export async function rights (server, sinks) {
  return server.read(async client => {
    const { rows: [{ isReadOnly }] } = await client.query(MODE)
    const { rows } = await client.query(LACKING, [sinks.map(({ schema }) => schema), sinks.map(({ table }) => table)])
    const fix = said`Grant them: GRANT CREATE ON SCHEMA … TO …; GRANT SELECT, INSERT, DELETE ON … TO …`
    return { isReadOnly, lacking: rows.map(({ lacking }) => lacking), fix }
  })
}
