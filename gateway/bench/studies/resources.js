import { LocalMonitor } from '../../stats/monitor/monitor.js'
import { Sampler } from '../../stats/monitor/sampler.js'
import { summarise } from '../../stats/monitor/summary.js'
import { seriesOf } from './series.js'

/**
 * What a database, its client and the machine use while something is measured.
 *
 * @typedef {import('../../stats/monitor/usage.js').Monitor} Monitor
 * @typedef {import('../../stats/monitor/usage.js').Sample} Sample
 * @typedef {import('../../stats/monitor/usage.js').ProcessUsage} ProcessUsage
 * @typedef {import('../../stats/monitor/summary.js').Summary} Summary
 * @typedef {import('./series.js').Series} Series
 *
 * @typedef {object} Usage  what cannot be read is absent
 * @property {Summary} usage  `processes.server`, all its processes, and `processes.client`; `folders.data`; `machine`, the server's
 * @property {Series} series
 */

/**
 * Watches while `work` goes on. A client that is this process is watched without what it has started, which may be the server.
 * @template T
 * @param {{running: Pick<import('../sinks/sink-bench.js').Running, 'watched'>, clientPid?: number|number[], intervalMs?: number}} watched
 * @param {() => Promise<T>} work
 * @returns {Promise<{result: T} & Usage>}
 */
export async function watching ({ running: { watched = {} }, clientPid = [], intervalMs }, work) {
  const { pid: serverPid = [], folder, remote } = watched
  const local = new Groups({ client: [clientPid].flat(), ...!remote && { server: [serverPid].flat() } }, remote ? undefined : folder)
  const sampler = new Sampler(remote ? new Both(remote, local) : local, { intervalMs })
  await sampler.start()
  try {
    const result = await work()
    const samples = await sampler.stop()
    return { result, usage: summarise(samples), series: seriesOf(samples) }
  } catch (error) {
    await sampler.stop()
    throw error
  }
}

/**
 * What of it could be read, as measures of a cell.
 * @param {'server'|'client'} name @param {Summary|undefined} usage
 * @returns {Record<string, number>}
 */
export function usageOf (name, usage) {
  const { cpuPercent, rssBytes } = usage?.processes[name] ?? {}
  return { ...cpuPercent && { [`${name}CpuPercent`]: cpuPercent.mean }, ...rssBytes && { [`${name}RssBytes`]: rssBytes.max } }
}

/** Of several processes that belong together, the sum, by the name of their group. @implements {Monitor} */
class Groups {
  #pids
  #monitor

  /** @param {Record<string, number[]>} pids @param {string|undefined} data */
  constructor (pids, data) {
    this.#pids = pids
    const processes = Object.entries(pids).flatMap(([name, each]) => {
      return each.map((pid, i) => [nameOf(name, i), { pid, isAlone: pid === process.pid }])
    })
    const folders = { ...data !== undefined && { data } }
    this.#monitor = new LocalMonitor({ processes: Object.fromEntries(processes), folders, machine: true })
  }

  /** @param {{fresh?: boolean}} [options] @returns {Promise<Sample>} */
  async read (options) {
    const sample = await this.#monitor.read(options)
    const groups = Object.entries(this.#pids).filter(([, pids]) => pids.length > 0)
    return {
      ...sample,
      processes: Object.fromEntries(groups.map(([name, pids]) => [name, together(pids.map((_, i) => sample.processes[nameOf(name, i)]))]))
    }
  }
}

/** The server is on another machine, the client on this one. @implements {Monitor} */
class Both {
  #remote
  #local

  /** @param {NonNullable<import('../servers.js').WatchedServer['remote']>} remote @param {Monitor} local */
  constructor (remote, local) {
    this.#remote = remote
    this.#local = local
  }

  /** @param {{fresh?: boolean}} [options] @returns {Promise<Sample>} */
  async read (options) {
    const { monitor, name } = this.#remote
    const [there, here] = await Promise.all([monitor.read(options), this.#local.read(options)])
    const [server, data] = [there.processes[name], there.folders[name] ?? there.folders.data]
    return {
      ...there,
      processes: { ...here.processes, ...server && { server } },
      folders: { ...data && { data } },
      notes: [...there.notes, ...here.notes]
    }
  }
}

/** @param {string} name @param {number} i */
function nameOf (name, i) { return i === 0 ? name : `${name} ${i + 1}` }

/** @param {ProcessUsage[]} usages @returns {ProcessUsage} */
function together (usages) {
  if (usages.length === 1) return usages[0]
  const keys = new Set(usages.flatMap(usage => /** @type {(keyof ProcessUsage)[]} */ (Object.keys(usage))))
  const running = usages.filter(({ processes }) => processes > 0)
  const sums = [...keys].filter(key => key !== 'cgroup' && key !== 'peakRssBytes' && running.every(usage => usage[key] !== undefined))
    .map(key => [key, usages.reduce((sum, usage) => sum + Number(usage[key] ?? 0), 0)])
  return Object.fromEntries(sums)
}
