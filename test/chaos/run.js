import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { check, countRows } from './check/check.js'
import { Ledger } from './check/ledger.js'
import { planEvents } from './plan.js'
import { CHANGED } from './rig/flow.js'
import { Rig } from './rig/rig.js'

/**
 * @typedef {import('./plan.js').Event} Event
 * @typedef {import('./check/check.js').Store} Store
 * @typedef {import('./check/check.js').Verdict} Verdict
 *
 * @typedef {object} ChaosOptions
 * @property {string} folder  an empty one
 * @property {import('./rig/brokers.js').BrokerName} broker
 * @property {string[]} sinks  types of databases, each with a sink of its own
 * @property {number} events  in all
 * @property {number} seed
 * @property {number} rate  rows a second of each simulated machine
 * @property {number} gateways
 * @property {boolean} deploys  whether sinks are renamed, disabled, deleted and brought back
 * @property {boolean} damage  whether bits of the spools are flipped
 * @property {boolean} changes  whether a flow splits batches before a further sink
 * @property {boolean} setBack  whether databases are set back to earlier copies
 * @property {AbortSignal} signal  ends the run
 * @property {(progress: string) => void} report
 *
 * @typedef {Record<string, number>} Killed  how often: `gateway`, `broker`, `brokerForgot` of those, and each server by its type
 * @typedef {Record<string, number>} Others  how often what else happened
 * @typedef {{damagedMs: number, setBackMs: Map<string, number>}} Incidents  when the last of each was over: of what was produced before,
 *   something may be missing
 * @typedef {{events: number, killed: Killed, others: Others, produced: number, sources: string[], sinks: Record<string, Verdict>}}
 *   ChaosResult  `produced` in rows; `sinks` by type, those of a second gateway with a 2
 */

const POLL_MS = 500
/** What was started again last is to produce as well. */
const LAST_RUN_MS = 2000
/** What the sources made last is in the spools by then. */
const SETTLING_MS = 1000
/** When nothing more was stored for so long, nothing more will come; sooner when the gateways say so too, who see it some seconds later. */
const PATIENCE_MS = 60_000
const QUIET_MS = 15_000

/**
 * Runs gateway, broker and databases as processes, kills them at random moments while data flow, lets all arrive that is on its way, and
 * compares row by row. Whatever happens, nothing that it started is left running.
 * @param {ChaosOptions} options
 * @returns {Promise<ChaosResult>}
 * @throws the signal's reason; SLUICE_CHAOS_GATEWAY when the gateway ended by itself
 */
export async function runChaos (options) {
  const { folder, broker, sinks, events, seed, rate, gateways, deploys, damage, changes, setBack, signal, report } = options
  const { promise: stopped, reject: stop } = Promise.withResolvers()
  stopped.catch(() => {})
  signal.addEventListener('abort', () => stop(signal.reason))
  /** @type {Run} */
  const run = { folder, report, restarting: new AbortController(), unlessStopped: work => Promise.race([work, stopped]) }

  report('starting the servers')
  const rig = await Rig.open({ folder, broker, sinks, gateways, changes, rate, seed, onCrash: stop })
  try {
    await rig.startGateways()
    const plan = planEvents({
      events, seed, deploys, damage,
      servers: rig.servers,
      gateways: rig.sites.map(({ name }) => name),
      setBack: setBack ? Object.keys(rig.restorable) : []
    })
    const { incidents, ...counts } = await happen(rig, plan, run)
    return { events, ...counts, ...await settle(rig, run, incidents) }
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

/** @param {Rig} rig @param {Event[]} plan @param {Run} run */
async function happen (rig, plan, run) {
  const { folder, report, unlessStopped } = run
  const { victims } = rig
  /** @type {Killed} */
  const killed = { gateway: 0, broker: 0, brokerForgot: 0 }
  for (const name of Object.keys(victims)) killed[name] = 0
  /** @type {Others} */
  const others = {}
  /** @type {Incidents} */
  const incidents = { damagedMs: 0, setBackMs: new Map() }
  const tally = () => Object.entries(victims).map(([name, { title }]) => `${title} ${killed[name]}`).join(', ')
  for (const [i, event] of plan.entries()) {
    const victim = victims[event.victim]
    await unlessStopped(event.early ? victim.started : victim?.running() ?? Promise.resolve())
    await unlessStopped(sleep(event.afterMs))
    await appendFile(join(folder, 'events.log'), `${new Date().toISOString()} ${JSON.stringify(event)}\n`)
    await unlessStopped(HAPPENINGS[event.kind](rig, event, run))
    if (event.kind === 'damage') incidents.damagedMs = Date.now()
    if (event.kind === 'setBack') incidents.setBackMs.set(event.victim, Date.now())
    if (event.kind === 'kill') killed[event.victim]++
    else others[event.kind] = (others[event.kind] ?? 0) + 1
    if (event.forgets) killed.brokerForgot++
    const counted = Object.entries(others).map(([kind, count]) => `, ${kind} ${count}`).join('')
    report(`${i + 1} of ${plan.length} events: killed ${tally()}${counted}`)
  }
  for (const victim of Object.values(victims)) await unlessStopped(victim.running())
  await unlessStopped(sleep(LAST_RUN_MS))
  return { killed, others, incidents }
}

/** @type {Record<Event['kind'], (rig: Rig, event: Event, run: Run) => Promise<void>>} */
const HAPPENINGS = {
  kill: ({ victims }, event, { restarting }) => victims[event.victim].kill(event, restarting.signal),

  deploy: (rig, event) => siteOf(rig, event).deploy(event),

  damage: ({ victims, ...rig }, event, { restarting }) =>
    victims[event.victim].kill(event, restarting.signal, () => siteOf(rig, event).damage(event.pick)),

  /** To what it held some seconds ago. */
  async setBack ({ victims, restorable }, event, { restarting }) {
    const { save, restore } = /** @type {import('./databases/index.js').Restorable} */ (restorable[event.victim].restorable)
    const victim = victims[event.victim]
    const whileDown = async (/** @type {() => Promise<void>} */ work) => {
      if (!victim) return work()
      await victim.kill(event, restarting.signal, work)
      await victim.running()
    }
    await whileDown(save)
    await sleep(event.afterMs)
    await whileDown(restore)
  }
}

/** @param {Pick<Rig, 'sites'>} rig @param {Event} event */
function siteOf ({ sites }, { victim }) {
  return /** @type {import('./rig/site.js').Site} */ (sites.find(({ name }) => name === victim))
}

/**
 * Ends the sources, waits until all that they produced is stored, and compares.
 * @param {Rig} rig
 * @param {Run} run
 * @param {Incidents} incidents
 */
async function settle (rig, { folder, report, unlessStopped }, { damagedMs, setBackMs }) {
  report('stopping the sources')
  await unlessStopped(rig.stopSources())
  await unlessStopped(sleep(SETTLING_MS))
  const readLedger = () => Ledger.open(rig.sites.map(({ ledgerFolder }) => ledgerFolder), join(folder, 'ledger-copies'))
  const { rows } = await readLedger()
  const stores = await rig.openStores()
  try {
    await unlessStopped(arrival(rig, rows, stores, report))
    const { removedUntilMs } = rig
    const reported = await unlessStopped(rig.reportedLost(new Set([...removedUntilMs.keys(), ...setBackMs.keys()])))
    for (const { gateway } of rig.sites) await unlessStopped(gateway.stop())
    report('comparing')
    const ledger = await readLedger()
    /** @type {Record<string, Verdict>} */
    const verdicts = {}
    for (const [name, store] of Object.entries(stores)) {
      const excusedUntilMs = Math.max(damagedMs, setBackMs.get(name) ?? 0, removedUntilMs.get(name) ?? 0)
      const verdict = await check(ledger, store, reported[name], excusedUntilMs)
      verdicts[name] = name.startsWith(CHANGED) ? { ...verdict, doubled: 0, repeated: verdict.doubled } : verdict
    }
    return { produced: ledger.rows, sources: ledger.sources, sinks: verdicts }
  } finally {
    for (const store of Object.values(stores)) await store.close()
  }
}

/** @param {Rig} rig @param {number} produced @param {Record<string, Store>} stores @param {(progress: string) => void} report */
async function arrival (rig, produced, stores, report) {
  for (let most = -1, changedMs = 0; ; await sleep(POLL_MS)) {
    /** @type {number[]} */
    const counts = []
    for (const store of Object.values(stores)) counts.push(await countRows(store))
    report(`${produced} rows produced; stored: ${Object.keys(stores).map((type, i) => `${counts[i]} in ${type}`).join(', ')}`)
    if (counts.every(count => count === produced)) return
    const stored = counts.reduce((sum, count) => sum + count, 0)
    const nowMs = performance.now()
    if (stored > most) {
      most = stored
      changedMs = nowMs
    }
    if (nowMs - changedMs > PATIENCE_MS || (nowMs - changedMs > QUIET_MS && await rig.inFlight() === 0)) return
  }
}
