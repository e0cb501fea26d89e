/**
 * The user that the gateway runs as, which need not be who asks: what is missing are the rights of that one.
 *
 * @typedef {import('../stats/monitor/system-files.js').SystemFiles} SystemFiles
 * @typedef {{name: string, uid: number, gids: number[]}} SystemUser
 */

/**
 * As the kernel tells of a process that runs.
 * @param {SystemFiles} files
 * @param {number} pid
 * @returns {SystemUser|null}
 */
export function userOfProcess (files, pid) {
  const status = files.text(`/proc/${pid}/status`) ?? ''
  const numbers = (/** @type {string} */ key) => new RegExp(`^${key}:(.*)$`, 'm').exec(status)?.[1].match(/\d+/g)?.map(Number)
  const [uids, gids, groups = []] = [numbers('Uid'), numbers('Gid'), numbers('Groups')]
  if (!uids || !gids) return null
  return { name: userName(files, uids[1]), uid: uids[1], gids: [gids[1], ...groups] }
}

/** By the machine's list of users: what that one would get. @param {SystemFiles} files @param {number} uid @returns {SystemUser} */
export function userOfNumber (files, uid) {
  const name = userName(files, uid)
  const own = linesOf(files, '/etc/passwd').find(([each]) => each === name)?.[3]
  const groups = linesOf(files, '/etc/group').filter(([, , , members = '']) => members.split(',').includes(name))
  return { name, uid, gids: [...own === undefined ? [] : [own], ...groups.map(([, , gid]) => gid)].map(Number) }
}

/** @param {SystemFiles} files @param {number} gid */
export function groupName (files, gid) {
  return linesOf(files, '/etc/group').find(([, , each]) => Number(each) === gid)?.[0] ?? String(gid)
}

/**
 * Whether a user may read and write what has these rights.
 * @param {SystemUser} user
 * @param {{mode: number, uid: number, gid: number}} stat
 */
export function mayUse ({ uid, gids }, stat) {
  if (uid === 0) return true
  const shift = uid === stat.uid ? 6 : gids.includes(stat.gid) ? 3 : 0
  return (stat.mode >> shift & 6) === 6
}

/** @param {SystemFiles} files @param {number} uid */
function userName (files, uid) {
  return linesOf(files, '/etc/passwd').find(([, , each]) => Number(each) === uid)?.[0] ?? String(uid)
}

/** @param {SystemFiles} files @param {string} path */
function linesOf (files, path) {
  return (files.text(path) ?? '').split('\n').filter(Boolean).map(line => line.split(':'))
}
