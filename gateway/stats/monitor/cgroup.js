import { numberOf } from './system-files.js'
import { known } from './usage.js'

/**
 * The control groups of a process: version 2, version 1, or both side by side, each controller in one of them.
 *
 * @typedef {import('./system-files.js').SystemFiles} SystemFiles
 * @typedef {import('./usage.js').CgroupUsage} CgroupUsage
 * @typedef {{controllers: string[], root: string, point: string}} Mount  of version 2, the controller is ''
 * @typedef {Partial<Record<'unified'|'cpu'|'cpuacct'|'memory', string[]>>} Folders  of each, and those around it
 */

const TICKS_PER_SECOND = 100
/** Version 1 says no limit by a number of almost 2^63. */
const NO_LIMIT = 2 ** 62

export class Cgroups {
  #files
  /** @type {Mount[]} */
  #mounts
  /** @type {Map<string, Folders>} */
  #found = new Map()

  /** @param {SystemFiles} files */
  constructor (files) {
    this.#files = files
    this.#mounts = mountsIn(files.text('/proc/self/mountinfo') ?? '')
  }

  /** @param {number} pid @returns {CgroupUsage|undefined} undefined where it is in none */
  read (pid) {
    const { unified, cpu, cpuacct, memory } = this.#foldersOf(this.#files.text(`/proc/${pid}/cgroup`) ?? '')
    const version1 = cpu || cpuacct || memory ? known(this.#version1({ cpu, cpuacct, memory })) : {}
    const version2 = unified ? known(this.#version2(unified)) : {}
    if (Object.keys(version1).length === 0 && Object.keys(version2).length === 0) return undefined
    return { version: Object.keys(version2).length > 0 ? 2 : 1, ...version1, ...version2 }
  }

  /** @param {string} text  of a process: seldom another one than before @returns {Folders} */
  #foldersOf (text) {
    const found = this.#found.get(text)
    if (found) return found
    const lines = text.split('\n').map(line => /^\d+:([^:]*):(.*)$/.exec(line))
    const [unified, cpu, cpuacct, memory] = ['', 'cpu', 'cpuacct', 'memory'].map(controller => {
      const path = lines.find(line => line?.[1].split(',').includes(controller))?.[2]
      const mount = this.#mounts.find(({ controllers }) => controllers.includes(controller))
      return path === undefined || !mount ? undefined : this.#folders(mount, path)
    })
    this.#found.set(text, { unified, cpu, cpuacct, memory })
    return { unified, cpu, cpuacct, memory }
  }

  /** None for the root of all: everything is in it. @param {Mount} mount @param {string} path @returns {string[]|undefined} */
  #folders ({ root, point, controllers }, path) {
    const within = root === '/' ? path : path === root || path.startsWith(`${root}/`) ? path.slice(root.length) : undefined
    if (within === undefined || within.startsWith('/..')) return undefined
    const names = within.split('/').filter(Boolean)
    const folders = names.map((_, i) => `${point}/${names.slice(0, names.length - i).join('/')}`)
    const isOurRoot = controllers.includes('')
      ? this.#files.text(`${point}/cgroup.events`) !== undefined
      : this.#files.text(`${point}/cgroup.procs`) !== undefined && this.#files.text(`${point}/release_agent`) === undefined
    if (isOurRoot) folders.push(point) // that of a container
    return folders.length > 0 ? folders : undefined
  }

  /** @param {string[]} folders @returns {Partial<CgroupUsage>} */
  #version2 (folders) {
    const [folder] = folders
    const cpu = this.#files.text(`${folder}/cpu.stat`)
    return {
      cpuSeconds: scaled(numberOf(cpu, 'usage_usec '), 1e6),
      userSeconds: scaled(numberOf(cpu, 'user_usec '), 1e6),
      systemSeconds: scaled(numberOf(cpu, 'system_usec '), 1e6),
      throttledSeconds: scaled(numberOf(cpu, 'throttled_usec '), 1e6),
      throttledPeriods: numberOf(cpu, 'nr_throttled '),
      cpuLimitCores: least(folders, each => {
        const [quota, period] = this.#files.text(`${each}/cpu.max`)?.split(' ').map(Number) ?? []
        return quota / period
      }),
      memoryBytes: this.#number(folder, 'memory.current'),
      peakMemoryBytes: this.#number(folder, 'memory.peak'),
      memoryLimitBytes: least(folders, each => this.#number(each, 'memory.max'))
    }
  }

  /** @param {Folders} folders @returns {Partial<CgroupUsage>} */
  #version1 ({ cpu: cpus = [], cpuacct: accounts = [], memory: memories = [] }) {
    const [cpu, account, memory] = [cpus[0], accounts[0], memories[0]]
    const periods = cpu && this.#files.text(`${cpu}/cpu.stat`)
    const split = account && this.#files.text(`${account}/cpuacct.stat`)
    return {
      cpuSeconds: scaled(this.#number(account, 'cpuacct.usage'), 1e9),
      userSeconds: scaled(numberOf(split, 'user '), TICKS_PER_SECOND),
      systemSeconds: scaled(numberOf(split, 'system '), TICKS_PER_SECOND),
      throttledSeconds: scaled(numberOf(periods, 'throttled_time '), 1e9),
      throttledPeriods: numberOf(periods, 'nr_throttled '),
      cpuLimitCores: least(cpus, each => {
        const quota = this.#number(each, 'cpu.cfs_quota_us')
        return quota === undefined || quota < 0 ? undefined : quota / (this.#number(each, 'cpu.cfs_period_us') ?? NaN)
      }),
      memoryBytes: this.#number(memory, 'memory.usage_in_bytes'),
      peakMemoryBytes: this.#number(memory, 'memory.max_usage_in_bytes'),
      memoryLimitBytes: least(memories, each => this.#number(each, 'memory.limit_in_bytes'))
    }
  }

  /** @param {string|undefined} folder @param {string} name @returns {number|undefined} */
  #number (folder, name) { return folder === undefined ? undefined : numberOf(this.#files.text(`${folder}/${name}`), '') }
}

/** Of all hierarchies. @param {string} text  of mountinfo @returns {Mount[]} */
export function mountsIn (text) {
  return text.split('\n').flatMap(line => {
    const [place, kind] = line.split(' - ')
    const [, , , root, point] = place.split(' ')
    const [type, , options = ''] = kind?.split(' ') ?? []
    if (type === 'cgroup2') return [{ controllers: [''], root, point }]
    return type === 'cgroup' ? [{ controllers: options.split(','), root, point }] : []
  })
}

/** @param {number|undefined} number @param {number} unit */
function scaled (number, unit) { return number === undefined ? undefined : number / unit }

/** The least limit there is. @param {string[]} folders @param {(folder: string) => number|undefined} limitOf */
function least (folders, limitOf) {
  const limits = folders.map(limitOf).filter(limit => limit !== undefined && limit < NO_LIMIT)
  return limits.length > 0 ? Math.min(.../** @type {number[]} */ (limits)) : undefined
}
