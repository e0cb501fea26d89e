import { said } from '../../stats/phrases.js'

/** @typedef {import('../../databases/mongodb/connection.js').MongodbServer} Server */

export const resolutionMs = 1

const NEEDED = ['find', 'insert', 'createCollection', 'createIndex', 'remove']

/** @param {Server} server */
export function timeMs (server) {
  return server.use(async db => (await db.command({ hello: 1 })).localTime.getTime())
}

/** Without a login everything is allowed. @param {Server} server @returns {Promise<import('./index.js').Rights>} */
export function rights (server) {
  return server.use(async db => {
    const { authInfo } = await db.command({ connectionStatus: 1, showPrivileges: true })
    const { isWritablePrimary, setName } = await db.command({ hello: 1 })
    const privileges = authInfo?.authenticatedUserPrivileges ?? []
    const its = privileges.filter((/** @type {any} */ { resource }) =>
      resource.anyResource || resource.collection === '' && ['', db.databaseName].includes(resource.db))
    const actions = new Set(its.flatMap((/** @type {any} */ each) => each.actions))
    const isFree = !authInfo?.authenticatedUsers?.length || privileges.length === 0
    return {
      isReadOnly: isWritablePrimary === false && setName === undefined,
      lacking: isFree ? [] : NEEDED.filter(action => !actions.has(action)),
      fix: said`Grant the role readWrite on the database: db.grantRolesToUser(…, [{ role: 'readWrite', db: '${db.databaseName}' }])`
    }
  })
}

/** @param {Server} server @returns {Promise<import('./index.js').Disk[]>} */
export function disks (server) {
  return server.use(async db => {
    const { fsUsedSize, fsTotalSize } = await db.command({ dbStats: 1 })
    return fsTotalSize > 0 ? [{ name: said`the disk of the server`, freeBytes: fsTotalSize - fsUsedSize, totalBytes: fsTotalSize }] : []
  })
}
