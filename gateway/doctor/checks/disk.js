import { randomBytes } from 'node:crypto'
import { access, open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { describe } from '../../base/errors.js'
import { alarmsOf } from '../../stats/host/alarms.js'
import { spaceOf } from '../../stats/host/space.js'
import { duration, measure } from '../../stats/format.js'
import { note, ofAlarm, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/** @typedef {import('../finding.js').Finding} Finding */

const WRITES = 32
const PATIENCE_MS = 2000
const BLOCK = Buffer.alloc(4096)
/** A spool writes to the disk every second: it must not take long beside it. */
const SLOW_MS = 100
const USELESS_MS = 1000
const TMPFS = 0x01021994

const IN_MEMORY = (/** @type {string} */ folder) =>
  problem(said`The data folder is in memory: it is gone when the machine stops.`, folder, said`Put it on a disk.`)

/** @type {import('../finding.js').Check} */
export const disk = {
  name: 'disk',
  title: 'Disk',
  async find ({ userDir, dataDir }) {
    const folder = await access(dataDir).then(() => dataDir, () => userDir)
    try {
      await access(folder)
    } catch (error) {
      return [note(said`It cannot be entered: ${describe(error)}.`, folder,
        said`The first start makes it; or name another with --user-dir.`)]
    }
    const space = await spaceOf(folder)
    const alarms = alarmsOf({ disk: space })
    const { type } = await statfs(folder)
    return [
      ...alarms.map(alarm => ofAlarm(alarm, folder)),
      ...alarms.length === 0 ? [ok(said`${measure(space.freeBytes, 'B')} of ${measure(space.totalBytes, 'B')} are free.`, folder)] : [],
      ...type === TMPFS ? [IN_MEMORY(folder)] : [],
      await speedOf(folder)
    ]
  }
}

/** How long a small block takes to the disk. @param {string} folder @returns {Promise<Finding>} */
async function speedOf (folder) {
  try {
    const latenciesMs = (await latenciesIn(folder)).sort((a, b) => a - b)
    const [median, worst] = [latenciesMs[latenciesMs.length >> 1], latenciesMs[latenciesMs.length - 1]]
    const what = said`To force 4 KiB to the disk takes ${duration(median)}, at worst ${duration(worst)} of ${latenciesMs.length} times.`
    if (median < SLOW_MS) return ok(what, folder)
    const grade = median < USELESS_MS ? warning : problem
    return grade(what, folder, said`See whether something else writes to it (iostat -x 1, iotop). A worn card is as slow: use one made for
      endurance, or an SSD; a longer interval in stage out helps.`)
  } catch (error) {
    return problem(said`Nothing can be written: ${describe(error)}.`, folder,
      said`Check space, the folder's owner, and whether the file system is read-only; dmesg says why it became so.`)
  }
}

/** @param {string} folder */
async function latenciesIn (folder) {
  const path = join(folder, `doctor-${randomBytes(8).toString('hex')}.probe`)
  const file = await open(path, 'wx', 0o600)
  try {
    await rm(path) // open all the same: nothing is left whatever happens
    /** @type {number[]} */
    const latenciesMs = []
    for (const begunMs = performance.now(); latenciesMs.length < WRITES && performance.now() - begunMs < PATIENCE_MS;) {
      const atMs = performance.now()
      await file.write(BLOCK, 0, BLOCK.length, latenciesMs.length * BLOCK.length)
      await file.datasync()
      latenciesMs.push(performance.now() - atMs)
    }
    return latenciesMs
  } finally {
    await file.close()
  }
}
