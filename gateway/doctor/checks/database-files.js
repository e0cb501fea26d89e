import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { describe } from '../../base/errors.js'
import { measure } from '../../stats/format.js'
import { alarmsOf } from '../../stats/host/alarms.js'
import { spaceOf } from '../../stats/host/space.js'
import { nameOf } from '../flow.js'
import { ofAlarm, ok, problem, warning } from '../finding.js'
import { mayUse } from '../system-user.js'
import { said } from '../../stats/phrases.js'

/** @typedef {import('../finding.js').Finding} Finding */

/** A log is written back long before. */
const MANY_BYTES = 2 ** 28

/**
 * Databases that are files. They are looked at, and not opened: DuckDB lets only one process in.
 * @type {import('../finding.js').Check}
 */
export const databaseFiles = {
  name: 'database-files',
  title: 'Databases in files',
  async find (subject) {
    const flow = await subject.flow
    if (!flow) return []
    const sinks = ['sqlite', 'duckdb', 'file'].flatMap(type => flow.ofType(`sluice-${type}`))
    return (await Promise.all(sinks.map(async node => {
      const { options, problems } = await flow.optionsOf(node)
      if (problems.length > 0) return []
      const path = resolve(subject.dataDir, options.folder ?? options.file)
      return fileFindings(subject, path, `${path}, ${nameOf(node)}`)
    }))).flat()
  }
}

/** @param {import('../subject.js').Subject} subject @param {string} path @param {string} where @returns {Promise<Finding[]>} */
async function fileFindings ({ user, dataDir }, path, where) {
  try {
    const found = await stat(path)
    if (!mayUse(user, found)) return [problem(said`${user.name} may not write it.`, where, `sudo chown -R ${user.name}: '${path}'`)]
    const logBytes = await stat(`${path}-wal`).then(({ size }) => size, () => 0)
    return [
      ok(found.isDirectory() ? said`The folder is there.` : `${measure(found.size, 'B')}.`, where),
      ...logBytes > Math.max(MANY_BYTES, found.size) ? [logFinding(logBytes, where)] : [],
      ...await spaceFindings(path, where, dataDir)
    ]
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return [ok(said`It is made when the first rows come.`, where)]
    return [problem(said`It cannot be looked at: ${describe(error)}.`, where, said`Check the rights of its folder.`)]
  }
}

/** @param {number} bytes @param {string} where */
function logFinding (bytes, where) {
  return warning(said`Its write-ahead log has grown to ${measure(bytes, 'B')}: a reader holds it.`, where,
    said`End programs that keep a query of the file open.`)
}

/** On the disk of the data folder another check tells it. @param {string} path @param {string} where @param {string} dataDir */
async function spaceFindings (path, where, dataDir) {
  const [own, data] = await Promise.all([stat(dirname(path)), stat(dataDir).catch(() => null)])
  if (own.dev === data?.dev) return []
  return alarmsOf({ disk: await spaceOf(dirname(path)) }).map(alarm => ofAlarm(alarm, where))
}
