import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { check, countRows } from './check/check.js'
import { Ledger } from './check/ledger.js'
import { planKills } from './plan.js'
import { Rig } from './rig/rig.js'

/**
 * @typedef {import('./check/check.js').Store} Store
 * @typedef {import('./check/check.js').Verdict} Verdict
 *
 * @typedef {object} ChaosOptions
 * @property {string} folder  an empty one
 * @property {string[]} sinks  types of databases, each with a sink of its own
 * @property {number} kills
 * @property {number} seed
 * @property {number} rate  rows a second of the simulated machine
 * @property {AbortSignal} signal  ends the run
 * @property {(progress: string) => void} report
 *
 * @typedef {Record<string, number>} Killed  how often: `gateway`, `mosquitto`, `mosquittoForgot` of those, and each server by its type
 * @typedef {{kills: number, killed: Killed, produced: number, sinks: Record<string, Verdict>}} ChaosResult  `produced` in rows; `sinks` by
 *   type
 */

const POLL_MS = 500
/** What was started again last is to produce as well. */
const LAST_RUN_MS = 2000
/** What the sources made last is in the spools by then. */
const SETTLING_MS = 1000
/** When nothing more was stored for so long, nothing more will come. */
const PATIENCE_MS = 60_000

/**
 * Runs gateway, broker and databases as processes, kills them at random moments while data flow, lets all arrive that is on its way, and
 * compares row by row. Whatever happens, nothing that it started is left running.
 * @param {ChaosOptions} options
 * @returns {Promise<ChaosResult>}
 * @throws the signal's reason; SLUICE_CHAOS_GATEWAY when the gateway ended by itself
 */
export async function runChaos ({ folder, sinks, kills, seed, rate, signal, report }) {
  const { promise: stopped, reject: stop } = Promise.withResolvers()
  stopped.catch(() => {})
  signal.addEventListener('abort', () => stop(signal.reason))
  /** @type {Run} */
  const run = { folder, report, restarting: new AbortController(), unlessStopped: work => Promise.race([work, stopped]) }

  report('starting the servers')
  const rig = await Rig.open({ folder, sinks, rate, seed, onCrash: stop })
  try {
    await rig.startGateway()
    const servers = sinks.filter(type => type in rig.victims)
    const killed = await killAll(rig, planKills({ kills, seed, servers }), run)
    return { kills, killed, ...await settle(rig, run) }
  } finally {
    run.restarting.abort()
    await Promise.allSettled(Object.values(rig.victims).map(({ started }) => started))
    await rig.close()
  }
}

/**
 * @typedef {object} Run
 * @property {string} folder
 * @property {(progress: string) => void} report
 * @property {AbortController} restarting  ends what starts killed processes again
 * @property {<T>(work: Promise<T>) => Promise<T>} unlessStopped  rejects when the run is to end
 */

/** @param {Rig} rig @param {import('./plan.js').Kill[]} plan @param {Run} run */
async function killAll ({ victims }, plan, { folder, report, restarting, unlessStopped }) {
  /** @type {Killed} */
  const killed = { gateway: 0, mosquitto: 0, mosquittoForgot: 0 }
  for (const name of Object.keys(victims)) killed[name] = 0
  const tally = () => Object.entries(victims).map(([name, { title }]) => `${title} ${killed[name]}`).join(', ')
  for (const [i, kill] of plan.entries()) {
    const victim = victims[kill.victim]
    await unlessStopped(kill.early ? victim.started : victim.running())
    await unlessStopped(sleep(kill.afterMs))
    await victim.kill(kill, restarting.signal)
    killed[kill.victim]++
    if (kill.forgets) killed.mosquittoForgot++
    await appendFile(join(folder, 'kills.log'), `${new Date().toISOString()} ${JSON.stringify(kill)}\n`)
    report(`${i + 1} of ${plan.length} kills: ${tally()}`)
  }
  for (const victim of Object.values(victims)) await unlessStopped(victim.running())
  await unlessStopped(sleep(LAST_RUN_MS))
  return killed
}

/** Ends the sources, waits until all that they produced is stored, and compares. @param {Rig} rig @param {Run} run */
async function settle (rig, { folder, report, unlessStopped }) {
  report('stopping the sources')
  await unlessStopped(rig.stopSources())
  await unlessStopped(sleep(SETTLING_MS))
  const readLedger = () => Ledger.open(rig.ledgerFolder, join(folder, 'ledger-copies'))
  const { rows } = await readLedger()
  const stores = await rig.openStores()
  try {
    await unlessStopped(arrival(rows, stores, report))
    await unlessStopped(rig.gateway.stop())
    report('comparing')
    const ledger = await readLedger()
    /** @type {Record<string, Verdict>} */
    const verdicts = {}
    for (const [type, store] of Object.entries(stores)) verdicts[type] = await check(ledger, store)
    return { produced: ledger.rows, sinks: verdicts }
  } finally {
    for (const store of Object.values(stores)) await store.close()
  }
}

/** @param {number} produced @param {Record<string, Store>} stores @param {(progress: string) => void} report */
async function arrival (produced, stores, report) {
  for (let most = -1, patienceEndsMs = 0; ; await sleep(POLL_MS)) {
    /** @type {number[]} */
    const counts = []
    for (const store of Object.values(stores)) counts.push(await countRows(store))
    report(`${produced} rows produced; stored: ${Object.keys(stores).map((type, i) => `${counts[i]} in ${type}`).join(', ')}`)
    if (counts.every(count => count >= produced)) return
    const stored = counts.reduce((sum, count) => sum + count, 0)
    if (stored > most) {
      most = stored
      patienceEndsMs = performance.now() + PATIENCE_MS
    } else if (performance.now() > patienceEndsMs) {
      return
    }
  }
}
