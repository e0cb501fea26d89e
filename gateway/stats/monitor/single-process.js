import { bytesOf, numberOf } from './system-files.js'

/**
 * One process, read again and again.
 *
 * @typedef {import('./system-files.js').SystemFiles} SystemFiles
 * @typedef {import('./ration.js').Ration} Ration
 * @typedef {{threads: Ration, pss: Ration}} Rations
 * @typedef {Record<typeof TOTALS[number], number>} Totals  NaN: it cannot be read
 * @typedef {Record<typeof DISK[number], number>} Disk
 */

/** Of the kernel's counters of time in `/proc`, whatever it uses itself. */
const TICKS_PER_SECOND = 100

export const DISK = /** @type {const} */ (['readBytes', 'writtenBytes', 'readCalls', 'writeCalls'])
/** What of a process is added up when it has ended. */
export const TOTALS = /** @type {const} */ ([
  'cpuSeconds', 'userSeconds', 'systemSeconds', 'voluntarySwitches', 'involuntarySwitches', ...DISK
])

export class SingleProcess {
  #files
  #folder
  /** The id may be given again once the process has ended: its start tells. */
  #startTicks
  /** @type {Map<string, {cpuSeconds: number, voluntary: number, involuntary: number}>} its threads, when they were last looked at */
  #threads = new Map()
  /** Of its threads that have ended. */
  #ended = { cpuSeconds: 0, voluntary: 0, involuntary: 0 }

  parent = 0
  /** Whether its threads were not looked at, this time: how often they had to wait is as it was then. */
  isShallow = false
  /** @type {Totals} its own */
  totals = /** @type {Totals} */ (Object.fromEntries(TOTALS.map(key => [key, 0])))
  /** Processor time of the children that it has waited for, and of theirs. */
  reaped = { cpuSeconds: 0, userSeconds: 0, systemSeconds: 0 }
  /** @type {Pick<import('./usage.js').ProcessUsage, 'threads'|'rssBytes'|'peakRssBytes'|'pssBytes'|'swapBytes'>} */
  levels = {}
  /** @type {number[]} ids of the children it has now */
  children = []

  /** @param {SystemFiles} files @param {number} pid */
  constructor (files, pid) {
    this.#files = files
    this.pid = pid
    this.#folder = `/proc/${pid}`
    this.#startTicks = this.#stat()?.startTicks
  }

  /** @param {Rations} [rations]  without them, everything but the proportional set size @returns {boolean} whether it is there */
  read (rations) {
    const stat = this.#stat()
    if (stat?.startTicks !== this.#startTicks || stat === undefined) return false
    const status = this.#files.text(`${this.#folder}/status`)
    const disk = this.#disk()
    this.isShallow = stat.threads > 1 && rations !== undefined && !rations.threads.isDue
    const { userSeconds, systemSeconds } = stat
    const times = this.isShallow
      ? { ...this.totals, cpuSeconds: Math.max(this.totals.cpuSeconds, userSeconds + systemSeconds) }
      : this.#deep(stat, status, rations?.threads)
    // It may have ended meanwhile: then what was read last is the last of it.
    if ((status === undefined || Number.isNaN(disk.readBytes)) && this.#stat()?.startTicks !== this.#startTicks) return false
    this.parent = stat.parent
    this.totals = { ...times, userSeconds, systemSeconds, ...disk }
    this.reaped = stat.reaped
    const memory = status === undefined ? undefined : memoryIn(status)
    const pssBytes = memory?.rssBytes === 0 ? 0 : rations?.pss.isDue ? rations.pss.spend(() => this.#pss()) : undefined
    this.levels = { threads: stat.threads, ...memory, pssBytes }
    return true
  }

  /** Looks at each thread. @param {Stat} stat @param {string|undefined} status @param {Ration} [ration] */
  #deep (stat, status, ration) {
    if (stat.threads === 1) return this.#threadTimes(stat, [[String(this.pid), this.#folder, status]])
    const look = () => {
      const tasks = this.#files.names(`${this.#folder}/task`) ?? []
      return this.#threadTimes(stat, tasks.map(id => {
        const folder = `${this.#folder}/task/${id}`
        return [id, folder, this.#files.text(`${folder}/status`)]
      }))
    }
    return ration ? ration.spend(look) : look()
  }

  /**
   * `stat` counts in ticks, and all threads there have ever been; the scheduler counts each in nanoseconds, and takes the count of one that
   * ends with it. Both are never more than the truth, up to a tick of the scheduler's, so that the greater one is nearer.
   * @param {Stat} stat
   * @param {[id: string, folder: string, status: string|undefined][]} tasks
   * @returns {Pick<Totals, 'cpuSeconds'|'voluntarySwitches'|'involuntarySwitches'>}
   */
  #threadTimes (stat, tasks) {
    const before = this.#threads
    this.#threads = new Map()
    let [live, voluntary, involuntary] = [0, 0, 0]
    for (const [id, folder, status] of tasks) {
      if (status === undefined) continue // it has just ended
      const nanoseconds = Number.parseInt(this.#files.text(`${folder}/schedstat`) ?? '0', 10)
      const thread = {
        cpuSeconds: nanoseconds / 1e9,
        voluntary: numberOf(status, 'voluntary_ctxt_switches:') ?? NaN,
        involuntary: numberOf(status, 'nonvoluntary_ctxt_switches:') ?? NaN
      }
      this.#threads.set(id, thread)
      live += thread.cpuSeconds
      voluntary += thread.voluntary
      involuntary += thread.involuntary
    }
    for (const [id, thread] of before) {
      if ((this.#threads.get(id)?.cpuSeconds ?? -1) >= thread.cpuSeconds) continue
      this.#ended.cpuSeconds += thread.cpuSeconds
      this.#ended.voluntary += thread.voluntary
      this.#ended.involuntary += thread.involuntary
    }
    this.#ended.cpuSeconds = Math.max(this.#ended.cpuSeconds, stat.userSeconds + stat.systemSeconds - live)
    this.children = tasks.flatMap(([, folder]) => {
      // A folder of a process has none of its own; that of its first thread has the same name within.
      const path = folder === this.#folder ? `${folder}/task/${this.pid}/children` : `${folder}/children`
      return this.#files.text(path)?.split(' ').filter(Boolean).map(Number) ?? []
    })
    return {
      cpuSeconds: Math.max(this.totals.cpuSeconds, live + this.#ended.cpuSeconds),
      voluntarySwitches: voluntary + this.#ended.voluntary,
      involuntarySwitches: involuntary + this.#ended.involuntary
    }
  }

  /** @returns {Disk} */
  #disk () {
    const io = this.#files.text(`${this.#folder}/io`)
    const [readBytes, writtenBytes] = [numberOf(io, 'read_bytes:'), numberOf(io, 'write_bytes:')]
    const [readCalls, writeCalls] = [numberOf(io, 'syscr:'), numberOf(io, 'syscw:')]
    return { readBytes: readBytes ?? NaN, writtenBytes: writtenBytes ?? NaN, readCalls: readCalls ?? NaN, writeCalls: writeCalls ?? NaN }
  }

  #pss () { return bytesOf(this.#files.text(`${this.#folder}/smaps_rollup`), 'Pss:') }

  #stat () {
    const text = this.#files.text(`${this.#folder}/stat`)
    return text === undefined ? undefined : statOf(text)
  }
}

/** @typedef {ReturnType<typeof statOf>} Stat */

/** The name in parentheses may have any characters. @param {string} text */
function statOf (text) {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [userSeconds, systemSeconds, reapedUser, reapedSystem] = fields.slice(11, 15).map(ticks => Number(ticks) / TICKS_PER_SECOND)
  return {
    parent: Number(fields[1]),
    userSeconds,
    systemSeconds,
    reaped: { cpuSeconds: reapedUser + reapedSystem, userSeconds: reapedUser, systemSeconds: reapedSystem },
    threads: Number(fields[17]),
    startTicks: fields[19]
  }
}

/** One that is ending has none any more. @param {string} status */
export function memoryIn (status) {
  const bytes = (/** @type {string} */ key) => bytesOf(status, key) ?? 0
  return { rssBytes: bytes('VmRSS:'), peakRssBytes: bytes('VmHWM:'), swapBytes: bytes('VmSwap:') }
}
