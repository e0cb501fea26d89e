import { statfs } from 'node:fs/promises'
import { savedIn } from '../../../broker/out/required-sinks-file.js'
import { SEGMENT, spoolsIn } from '../../../broker/spool/folders.js'
import { brokerIdOf } from '../../../broker/stage-options.js'
import { duration, measure } from '../../stats/format.js'
import { nameOf } from '../flow.js'
import { note, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/**
 * @typedef {import('../finding.js').Finding} Finding
 * @typedef {import('../flow.js').Flow} Flow
 * @typedef {import('../../../broker/spool/folders.js').SpoolFolder} SpoolFolder
 */

/** A segment that nothing was written to yet. */
const EMPTY_BYTES = 4096
/** Sinks store within seconds; a database that is being restarted is back within this. */
const LONG_MS = 600_000
const FULL = 0.9

/** @type {import('../finding.js').Check} */
export const spools = {
  name: 'spools',
  title: 'Spools',
  async find (subject) {
    const flow = await subject.flow
    const folders = await spoolsIn(subject.userDir)
    if (!flow || folders.length === 0) return []
    const saved = await savedIn(subject.userDir)
    const found = await Promise.all(folders.map(async folder => {
      const node = flow.nodes.find(({ id }) => id === folder.spool)
      if (!node) return orphan(folder)
      const { options } = await flow.optionsOf(node)
      const sinks = saved.filter(({ broker }) => broker === brokerIdOf(options)).flatMap(({ wired, remote }) => [...wired, ...remote])
      const maxBytes = (options.spoolMegabytes ?? 0) * 2 ** 20
      return spoolFindings(folder, { where: nameOf(node), sinks, maxBytes, isRunning: subject.state === 'running' })
    }))
    return [...found.flat(), ...await roomFindings(subject.dataDir, flow, folders)]
  }
}

/** @param {SpoolFolder} folder @returns {Finding[]} */
function orphan (folder) {
  const { spool } = folder
  const bytes = staged(folder).bytes
  if (bytes <= EMPTY_BYTES) return []
  const what = said`${measure(bytes, 'B')} wait in the spool of a node that is not in the flow, or disabled: nothing sends them.`
  return [problem(what, said`spool ${spool}`,
    said`Restore or enable the node (its id names the spool) and deploy; or delete the folder if nobody wants these samples.`)]
}

/**
 * @param {SpoolFolder} folder
 * @param {{where: string, sinks: {key: string, label: string}[], maxBytes: number, isRunning: boolean}} about
 * @returns {Finding[]}
 */
function spoolFindings (folder, { where, sinks, maxBytes, isRunning }) {
  const { bytes, waitingMs } = staged(folder)
  const size = maxBytes > 0 ? said`${measure(bytes, 'B')} of ${measure(maxBytes, 'B')}` : measure(bytes, 'B')
  if (bytes <= EMPTY_BYTES) return [ok(said`The spool is empty.`, where)]
  if (sinks.length === 0) {
    return [warning(said`${size} wait in the spool, and there is no sink that would store them.`, where,
      said`Wire a sink to a stage in of the same broker, here or on another gateway, and deploy.`)]
  }
  const names = sinks.map(({ key, label }) => `${label || key} (${key})`).join(', ')
  if (maxBytes > 0 && bytes > maxBytes * FULL) {
    return [problem(said`The spool is full (${size}): it waits for ${names}.`, where, EMPTY_IT)]
  }
  if (isRunning && waitingMs > LONG_MS) {
    const what = said`${size} wait in the spool, the oldest for ${duration(waitingMs)}. Not all of these store: ${names}.`
    return [problem(what, where, EMPTY_IT)]
  }
  if (!isRunning) return [note(said`${size} wait in the spool until the gateway runs.`, where)]
  return [ok(said`${size} are in the spool, which its sinks empty.`, where)]
}

const EMPTY_IT = said`See the findings about brokers and databases. A sink that is gone for good is in sluice sinks list, and no longer
  waited for after sluice sinks forget KEY.`

/** What waits, and for how long the oldest segment has been complete: it goes as soon as all sinks have it. @param {SpoolFolder} folder */
function staged ({ files }) {
  const segments = files.filter(({ name }) => name.endsWith(SEGMENT))
  const [oldest] = segments.slice(0, -1)
  return {
    bytes: segments.reduce((sum, file) => sum + file.bytes, 0),
    waitingMs: oldest ? Date.now() - oldest.writtenMs : 0
  }
}

/**
 * Whether the disk has the room that the spools may take.
 * @param {string} dataDir
 * @param {Flow} flow
 * @param {SpoolFolder[]} folders
 * @returns {Promise<Finding[]>}
 */
async function roomFindings (dataDir, flow, folders) {
  let growth = 0
  for (const node of flow.nodes) {
    const { options: { spoolMegabytes } } = await flow.optionsOf(node)
    if (spoolMegabytes === undefined) continue
    const taken = folders.find(({ spool }) => spool === node.id)?.bytes ?? 0
    growth += Math.max(0, spoolMegabytes * 2 ** 20 - taken)
  }
  const { bavail, bsize } = await statfs(dataDir)
  if (growth <= bavail * bsize) return []
  const what = said`The spools may grow by ${measure(growth, 'B')}, and the disk has ${measure(bavail * bsize, 'B')}: a long outage
    fills it.`
  return [warning(what, dataDir, said`Lower the spool size of the stage outs, or make room.`)]
}
