import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../servers/ports.js'
import { Gateway, node } from '../gateway.js'

/** What a gateway of the commit FROM has left, which was killed: some of its rows are stored, all of them are in its spool. */
export const LEFT = fileURLToPath(new URL('../../data/upgrade', import.meta.url))
/** Of the release before, as far as formats are concerned: those of 0.1.0 are not read. */
export const FROM = '8280d8bb8b33'
const SOURCES = 2
/** Rows of a source, each time. */
const ROWS = 30

/** Of a gateway that stages and stores. @param {number} port  of its broker @param {boolean} hasBroker  without it nothing is stored */
function flow (port, hasBroker) {
  return [
    node('broker', '-broker', { url: `mqtt://127.0.0.1:${port}` }),
    node('embedded', '-embedded-broker', { port, d: !hasBroker }),
    node('out', '-stage-out', { broker: 'broker' }),
    node('in', '-stage-in', { broker: 'broker' }, 'sink'),
    node('sink', '-sqlite', { file: 'rows.sqlite', table: '{source}' })
  ]
}

/** Two batches of each source; the time of a row is its number. */
const FIRST = () => ['press', 'lathe'].flatMap(topic => [0, 15].map(from => {
  return { topic, payload: Array.from({ length: 15 }, (_, i) => ({ time: new Date(1.7e12 + from + i).toISOString(), n: from + i })) }
}))
const SECOND = () => ['press', 'lathe'].flatMap(topic => [30, 45].map(from => {
  return { topic, payload: Array.from({ length: 15 }, (_, i) => ({ time: new Date(1.7e12 + from + i).toISOString(), n: from + i })) }
}))

/**
 * Has a gateway store some rows, and keep others in its spool; it is killed.
 * @param {string} folder
 * @param {string} [command]  of another version
 */
export async function leave (folder, command) {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'flows.json'), '[{"id":"flow","type":"tab","label":"flow"}]')
  const port = await freePort()
  const gateway = await Gateway.startOn(folder, command)
  await deploy(gateway, flow(port, true))
  await gateway.feed(FIRST)
  await gateway.until(() => numbersIn(folder).length === SOURCES * ROWS, () => gateway.log)
  await deploy(gateway, flow(port, false))
  await gateway.feed(SECOND)
  const isStaged = async (/** @type {string} */ source) => (await gateway.meter('stage', source))?.rows === 2 * ROWS
  await gateway.until(async () => await isStaged('press') && await isStaged('lathe'), () => gateway.log)
  await gateway.stop('SIGKILL')
}

/**
 * Has a gateway store what another has left; gives the numbers of the rows in its database, in order.
 * @param {string} folder
 * @param {string} [command]  of another version
 */
export async function takeOver (folder, command) {
  const gateway = await Gateway.startOn(folder, command)
  try {
    await deploy(gateway, flow(await freePort(), true))
    await gateway.until(() => numbersIn(folder).length >= 2 * SOURCES * ROWS, () => gateway.log)
    await gateway.until(async () => (await gateway.gauge('spool out')).unstoredBytes === 0, () => gateway.log)
    return { numbers: numbersIn(folder), log: gateway.log }
  } finally {
    await gateway.stop()
  }
}

/** Older versions say too early that a flow has started. @param {Gateway} gateway @param {import('../gateway.js').FlowNode[]} nodes */
async function deploy (gateway, nodes) {
  await gateway.deploy(nodes, { feeds: ['out'] })
  await gateway.until(() => gateway.report().then(() => true, () => false), () => 'the flow to start')
}

/** All rows exactly once. */
export const ALL = Array.from({ length: 2 * ROWS }, (_, n) => Array(SOURCES).fill(n)).flat()

/** @param {string} folder @returns {number[]} */
function numbersIn (folder) {
  try {
    const database = new DatabaseSync(join(folder, 'user', 'sluice', 'rows.sqlite'), { readOnly: true })
    try {
      return database.prepare('SELECT n FROM press UNION ALL SELECT n FROM lathe ORDER BY n').all().map(({ n }) => Number(n))
    } finally {
      database.close()
    }
  } catch {
    return [] // it is not there yet
  }
}
