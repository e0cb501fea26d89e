import { DISK, SingleProcess, TOTALS } from './single-process.js'
import { known } from './usage.js'

/**
 * @typedef {import('./single-process.js').Totals} Totals
 * @typedef {import('./single-process.js').Rations} Rations
 * @typedef {import('./usage.js').ProcessUsage} ProcessUsage
 */

const CPU = /** @type {const} */ (['cpuSeconds', 'userSeconds', 'systemSeconds'])
const LEVELS = /** @type {const} */ (['threads', 'rssBytes', 'pssBytes', 'swapBytes'])

/** What a member of a tree has used, with its children that have ended. */
class Member {
  /** Of those seen to end, and those that had ended before it was first read. */
  #ended = zero()
  /** What the children that have ended since the last reading took from and to disks. */
  #unclaimed = zero()
  /** What of that the process has not taken over. */
  #unkept = zero()

  /** @param {SingleProcess} process */
  constructor (process) {
    this.process = process
  }

  /** @param {Rations} rations */
  read (rations) {
    const before = this.process.totals
    if (!this.process.read(rations)) return false
    for (const key of DISK) {
      // The kernel gives a process what those children did whose end it has waited for: then it is in here twice.
      const unkept = Math.max(0, before[key] + this.#unclaimed[key] - this.process.totals[key])
      this.#unkept[key] += this.#unclaimed[key] === 0 ? 0 : unkept
      this.#unclaimed[key] = 0
    }
    return true
  }

  /** A child of it has ended. @param {Totals} totals */
  add (totals) {
    for (const key of TOTALS) this.#ended[key] += totals[key]
    for (const key of DISK) this.#unclaimed[key] += totals[key]
  }

  /**
   * With the time of children: as the kernel adds it up, for those whose end it has waited for, or as it was when they were last seen.
   * Neither is ever too much.
   * @returns {Totals}
   */
  get totals () {
    const totals = { ...this.process.totals }
    for (const key of CPU) totals[key] += Math.max(this.process.reaped[key], this.#ended[key])
    totals.voluntarySwitches += this.#ended.voluntarySwitches
    totals.involuntarySwitches += this.#ended.involuntarySwitches
    for (const key of DISK) totals[key] += this.#unkept[key]
    return totals
  }

  /** What had ended before it was first read is in what is added up from now on. */
  begin () { Object.assign(this.#ended, this.process.reaped) }
}

/**
 * A process, alone or with all that it has started, directly or not. Who was once seen as a member remains one. What those have used
 * that have ended is kept, as far as it was seen or the kernel has counted it.
 */
export class ProcessTree {
  /** Parents before their children. @type {Map<number, Member>} */
  #members = new Map()
  #gone = zero()
  #files
  #pid
  #isAlone
  #rootPid = 0
  #hasEnded = false

  /**
   * @param {import('./system-files.js').SystemFiles} files
   * @param {number|(() => number|undefined)} pid  of the process at the root; a function is asked again when that has ended, as when a
   *   server starts again
   * @param {{isAlone?: boolean}} [options]
   */
  constructor (files, pid, { isAlone = false } = {}) {
    this.#files = files
    this.#pid = pid
    this.#isAlone = isAlone
  }

  /** Ids of those that run. */
  get pids () { return [...this.#members.keys()] }

  /** Of the first process, while it runs. @returns {number|undefined} */
  get rootPid () { return this.#members.has(this.#rootPid) ? this.#rootPid : undefined }

  /** @param {Rations} rations @returns {ProcessUsage} */
  read (rations) {
    // Children first: when one has ended, what its parent has taken over from it is read after that.
    for (const member of [...this.#members.values()].reverse()) if (!member.read(rations)) this.#bury(member)
    if (!this.rootPid) this.#admit(this.#rootPid = this.#nextRoot() ?? 0, rations)
    if (!this.#isAlone) {
      for (const { process } of this.#members.values()) for (const pid of process.children) this.#admit(pid, rations)
    }
    return this.#usage()
  }

  /** Once a process has ended, another one may have its id. */
  #nextRoot () {
    if (typeof this.#pid === 'function') return this.#pid()
    return this.#hasEnded ? undefined : this.#pid
  }

  /** @param {number} pid @param {Rations} rations */
  #admit (pid, rations) {
    if (pid === 0 || this.#members.has(pid)) return
    const member = new Member(new SingleProcess(this.#files, pid))
    if (!member.read(rations)) return
    member.begin()
    this.#members.set(pid, member)
  }

  /** @param {Member} member */
  #bury (member) {
    const { process } = member
    const totals = this.#totalsOf(member)
    this.#members.delete(process.pid)
    if (process.pid === this.#rootPid) this.#hasEnded = true
    const parent = this.#members.get(process.parent)
    if (parent) parent.add(totals)
    else for (const key of TOTALS) this.#gone[key] += totals[key]
  }

  /** @param {Member} member */
  #totalsOf (member) { return this.#isAlone ? member.process.totals : member.totals }

  /** @returns {ProcessUsage} */
  #usage () {
    const members = [...this.#members.values()]
    if (members.length === 0 && this.#gone.cpuSeconds === 0) return { processes: 0 }
    const sums = { ...this.#gone }
    for (const member of members) {
      const totals = this.#totalsOf(member)
      for (const key of TOTALS) sums[key] += totals[key]
    }
    if (members.some(({ process }) => process.isShallow)) sums.voluntarySwitches = sums.involuntarySwitches = NaN
    const levels = /** @type {Record<string, number>} */ ({})
    for (const key of members.length > 0 ? LEVELS : []) {
      levels[key] = members.reduce((sum, { process }) => sum + (process.levels[key] ?? NaN), 0)
    }
    const peakRssBytes = this.#isAlone ? members[0]?.process.levels.peakRssBytes : undefined
    return known({ processes: members.length, ...sums, ...levels, peakRssBytes })
  }
}

/** @returns {Totals} */
function zero () { return /** @type {Totals} */ (Object.fromEntries(TOTALS.map(key => [key, 0]))) }
