import { said } from '../../stats/phrases.js'

/** @typedef {import('../../databases/mysql/connection.js').MysqlServer} Server */

export const resolutionMs = 1

const NEEDED = ['CREATE', 'SELECT', 'INSERT', 'DELETE']

/** What the user has of all databases, and of this one, whose name may be given as a pattern. */
const GRANTED = `
  SELECT privilege_type AS privilege FROM information_schema.user_privileges WHERE grantee = ?
  UNION SELECT privilege_type FROM information_schema.schema_privileges WHERE grantee = ? AND DATABASE() LIKE table_schema`

/** @param {Server} server */
export async function timeMs (server) {
  return server.read(async connection => {
    const [[{ ms }]] = /** @type {[any[], any]} */ (await connection.query('SELECT UNIX_TIMESTAMP(NOW(3)) * 1000 AS ms'))
    return Number(ms)
  })
}

/**
 * Rights of single tables and of roles are not looked at: where it has any, nothing is said to lack.
 * @param {Server} server
 * @returns {Promise<import('./index.js').Rights>}
 */
export async function rights (server) {
  return server.read(async connection => {
    const [[{ user, isReadOnly }]] = /** @type {[any[], any]} */ (
      await connection.query('SELECT CURRENT_USER() AS user, @@GLOBAL.read_only AS isReadOnly')
    )
    const [, name, host] = /^(.*)@(.*)$/s.exec(user) ?? ['', user, '%']
    const grantee = `'${name}'@'${host}'`
    const [rows] = /** @type {[any[], any]} */ (await connection.query(GRANTED, [grantee, grantee]))
    const granted = new Set(rows.map(({ privilege }) => privilege))
    const [grants] = /** @type {[any[], any]} */ (await connection.query('SHOW GRANTS'))
    const hasMore = grants.some(row => /^GRANT `|\bON `[^`]+`\.`/.test(String(Object.values(row)[0])))
    return {
      isReadOnly: Number(isReadOnly) === 1 && !granted.has('SUPER'),
      lacking: hasMore ? [] : NEEDED.filter(privilege => !granted.has(privilege)),
      fix: said`Grant them: GRANT ${NEEDED.join(', ')}, ALTER, UPDATE ON … TO ${grantee}`
    }
  })
}
