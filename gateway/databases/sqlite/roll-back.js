/**
 * Ends a transaction, where there is one: Node before 22.16 does not tell.
 * @param {import('node:sqlite').DatabaseSync} database
 */
export function rollBack (database) {
  if (database.isTransaction === false) return
  try {
    database.exec('ROLLBACK')
  } catch {
    // there was none
  }
}
