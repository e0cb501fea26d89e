import { readFileSync } from 'node:fs'
import { Cgroups } from './cgroup.js'
import { folderUsage } from './folder.js'
import { readMachine } from './machine.js'
import { ProcessTree } from './process-tree.js'
import { Ration } from './ration.js'
import { SocketTally, connectedSockets } from './sockets.js'
import { SystemFiles } from './system-files.js'

/**
 * What processes, folders and the machine use of processor, memory, disk and network. Linux only; elsewhere there is nothing but the
 * sizes of folders.
 *
 * @typedef {import('./usage.js').Monitor} Monitor
 * @typedef {import('./usage.js').Sample} Sample
 * @typedef {import('./usage.js').ProcessUsage} ProcessUsage
 *
 * @typedef {object} WatchedProcess
 * @property {number|string} pid  or the file that has it in its first line, which is read again when the process has ended
 * @property {boolean} [isAlone]  without what it has started
 *
 * @typedef {object} Watched
 * @property {Record<string, WatchedProcess>} [processes]  by name
 * @property {Record<string, string>} [folders]  paths by name
 * @property {boolean} [machine]
 */

/** Of a core, each at most. */
const SHARES = { pss: 0.001, threads: 0.002, network: 0.002, folders: 0.001 }

/** Reads this machine. @implements {Monitor} */
export class LocalMonitor {
  #files
  #cgroups
  #processes
  #folders
  #hasMachine
  #begunMs = performance.now()
  #rations = { pss: new Ration(SHARES.pss), threads: new Ration(SHARES.threads), network: new Ration(SHARES.network) }
  /** @type {Promise<unknown>} */
  #reading = Promise.resolve()

  /** @param {Watched} watched @param {{root?: string}} [options]  `root`: what `/proc` and `/sys` are below */
  constructor ({ processes = {}, folders = {}, machine = false }, { root } = {}) {
    const files = new SystemFiles(root)
    this.#files = files
    this.#cgroups = new Cgroups(files)
    this.#processes = Object.entries(processes).map(([name, { pid, isAlone }]) => {
      const first = typeof pid === 'number' ? pid : () => pidIn(pid)
      return { name, tree: new ProcessTree(files, first, { isAlone }), sockets: new SocketTally(files) }
    })
    this.#folders = Object.entries(folders).map(([name, path]) => ({ name, path, ration: new Ration(SHARES.folders) }))
    this.#hasMachine = machine
  }

  /**
   * One reading after the other.
   * @param {{fresh?: boolean}} [options]  `fresh`: with what is dear, whatever its ration
   * @returns {Promise<Sample>}
   */
  read ({ fresh = false } = {}) {
    const reading = this.#reading.then(() => this.#read(fresh))
    this.#reading = reading.catch(() => {})
    return reading
  }

  /** @param {boolean} fresh @returns {Promise<Sample>} */
  async #read (fresh) {
    const rations = Object.values(this.#rations)
    for (const ration of rations) ration.begin(fresh)
    const { network } = this.#rations
    /** @type {Set<string>} */
    const notes = new Set()
    const connected = network.isDue && this.#processes.length > 0 ? await network.spendAsync(connectedSockets) : undefined
    if (network.isDue && this.#processes.length > 0 && !connected) notes.add('network of processes: there is no ss (iproute2)')
    const timeMs = Date.now()
    const elapsedSeconds = (performance.now() - this.#begunMs) / 1000
    /** @type {Record<string, ProcessUsage>} */
    const processes = {}
    for (const each of this.#processes) processes[each.name] = this.#readProcess(each, connected, notes)
    const machine = this.#hasMachine ? readMachine(this.#files) : undefined
    if (this.#hasMachine && !machine) notes.add(`machine: there is no /proc${where}`)
    for (const ration of rations) ration.end()
    const folders = await this.#readFolders(fresh, notes)
    return { timeMs, elapsedSeconds, processes, folders, ...machine && { machine }, notes: [...notes] }
  }

  /**
   * @param {{name: string, tree: ProcessTree, sockets: SocketTally}} watched
   * @param {import('./sockets.js').Sockets|undefined} connected
   * @param {Set<string>} notes
   * @returns {ProcessUsage}
   */
  #readProcess ({ name, tree, sockets }, connected, notes) {
    const usage = tree.read(this.#rations)
    if (usage.processes === 0) notes.add(`${name}: there is no such process${where}`)
    if (usage.cpuSeconds === undefined) return usage
    const traffic = connected && this.#rations.network.spend(() => sockets.read(tree.pids, connected))
    if (connected && !traffic) notes.add(`${name}: its sockets may not be seen: that takes its user, or root, and its network namespace`)
    if (usage.processes && usage.writtenBytes === undefined) notes.add(`${name}: its disk may not be seen: that takes its user, or root`)
    const cgroup = tree.rootPid ? this.#cgroups.read(tree.rootPid) : undefined
    return { ...usage, ...traffic, ...cgroup && { cgroup } }
  }

  /** @param {boolean} fresh @param {Set<string>} notes */
  async #readFolders (fresh, notes) {
    /** @type {Record<string, import('./usage.js').FolderUsage>} */
    const folders = {}
    for (const { name, path, ration } of this.#folders) {
      ration.begin(fresh)
      if (!ration.isDue) continue
      const usage = await ration.spendAsync(() => folderUsage(path))
      ration.end()
      if (usage) folders[name] = usage
      else notes.add(`${name}: the folder cannot be read`)
    }
    return folders
  }
}

const where = process.platform === 'linux' ? '' : ` that can be watched: this is ${process.platform}, not Linux`

/** @param {string} file @returns {number|undefined} */
function pidIn (file) {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || undefined
  } catch {
    return undefined
  }
}
