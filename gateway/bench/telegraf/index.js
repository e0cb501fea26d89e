import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from '../../base/errors.js'
import { benchPipeline, idleGateway } from '../pipeline.js'
import { openPostgresql } from '../postgresql-server.js'
import { buildTelegraf, VERSION } from './build.js'
import { sluiceConsumer, telegrafConsumer } from './consumers.js'
import { measure, measureBareClient, measureKills } from './measure.js'

/**
 * Telegraf and Sluice beside each other: the same messages, broker and database, in turns.
 *
 * @typedef {import('./consumers.js').Consumer} Consumer
 * @typedef {import('./measure.js').Load} Load
 * @typedef {import('./measure.js').Measured} Measured
 * @typedef {import('./measure.js').Killed} Killed
 * @typedef {{problem: string}} Failed
 *
 * @typedef {Load & {telegraf: Measured|Failed, sluice: Measured|Failed, bare: Awaited<ReturnType<typeof measureBareClient>>}} Cell
 * @typedef {Load & {telegraf: Killed|Failed, sluice: Killed|Failed}} KillCell
 *
 * @typedef {object} Comparison
 * @property {string} version  of Telegraf
 * @property {number} idleMegabytes  of a Node-RED with Sluice and an empty flow
 * @property {Awaited<ReturnType<typeof benchPipeline>>} native  Arrow batches of another gateway
 * @property {Cell[]} cells
 * @property {KillCell[]} kills
 */

/**
 * How many messages, by the rows in each, take a consumer a few seconds, in measurements and kill tests; how many rows the native path has.
 */
const FULL = {
  devices: [100, 1000], messages: { 1: 100_000, 100: 6000, 1000: 800 }, killed: { 1: 50_000, 100: 4000 }, nativeRows: 2_000_000
}
const QUICK = { devices: [100], messages: { 1: 10_000, 100: 1000, 1000: 100 }, killed: { 1: 10_000 }, nativeRows: 400_000 }
const FORMATS = /** @type {const} */ (['lines', 'json'])
const KILLS = 3
/** A consumer that has not stored all by then is measured by what it has stored. */
const LIMIT_MS = 20_000

/**
 * @param {import('../sections.js').SectionOptions} options
 * @returns {Promise<Comparison|{missing: string}>}
 */
export async function benchTelegraf ({ servers, quick, progress }) {
  const built = await buildTelegraf({ progress })
  if ('missing' in built) return built
  const consumers = { telegraf: telegrafConsumer(built.program), sluice: sluiceConsumer }
  const { messages, devices, killed, nativeRows } = quick ? QUICK : FULL
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  try {
    progress('an idle Node-RED; Arrow batches')
    const { memoryBytes } = await idleGateway(join(folder, 'idle'), 1)
    const native = await benchPipeline(servers, { rows: nativeRows, index: 'none' })
    const database = await openPostgresql(servers, folder)
    const around = { servers, database, folder }
    try {
      /** @type {Cell[]} */
      const cells = []
      for (const load of loadsOf(messages, devices)) {
        progress(titleOf(load))
        const both = await inTurns(cells.length, consumers, consumer => measure(consumer, load, around, { limitMs: LIMIT_MS }))
        cells.push({ ...load, ...both, bare: await measureBareClient(load, around) })
      }
      /** @type {KillCell[]} */
      const kills = []
      for (const load of loadsOf(killed, [100])) {
        progress(`${titleOf(load)}: kill -9`)
        const both = await inTurns(kills.length, consumers, consumer => measureKills(consumer, load, around, { kills: KILLS }))
        kills.push({ ...load, ...both })
      }
      return { version: VERSION, idleMegabytes: memoryBytes / 1e6, native, cells, kills }
    } finally {
      await database.remove()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** @param {Load} load */
export function titleOf ({ shape: { rowsPerMessage, format, devices } }) {
  const rows = rowsPerMessage === 1 ? '1 row' : `${rowsPerMessage} rows`
  return `${rows} a message, ${format === 'lines' ? 'line protocol' : 'JSON'}, ${devices} devices`
}

/** @param {Record<string, number>} messages  by the rows in each @param {number[]} devices @returns {Load[]} */
function loadsOf (messages, devices) {
  return Object.entries(messages).flatMap(([rows, count]) => FORMATS.flatMap(format => devices.map(number => ({
    shape: { format, rowsPerMessage: Number(rows), devices: number }, messages: count
  }))))
}

/**
 * Each time another begins.
 * @template T
 * @param {number} turn
 * @param {{telegraf: Consumer, sluice: Consumer}} consumers
 * @param {(consumer: Consumer) => Promise<T>} run
 * @returns {Promise<{telegraf: T|Failed, sluice: T|Failed}>}
 */
async function inTurns (turn, { telegraf, sluice }, run) {
  const attempt = (/** @type {Consumer} */ consumer) => run(consumer).catch(error => ({ problem: describe(error) }))
  if (turn % 2 === 0) return { telegraf: await attempt(telegraf), sluice: await attempt(sluice) }
  const second = await attempt(sluice)
  return { telegraf: await attempt(telegraf), sluice: second }
}
