import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SluiceError } from '../../base/errors.js'
import { mountsIn } from '../../stats/monitor/cgroup.js'
import { boundsText } from './bounds-text.js'

/**
 * A control group of Linux for this process, of version 2 or 1: below the one that it is in, so that what holds for that one still holds;
 * where version 2 allows none below, since no group may have processes and groups, beside it.
 *
 * Memory that the process has before it enters does not count: what is started in the group counts in full.
 *
 * @typedef {import('./limit.js').Bounds} Bounds
 * @typedef {import('./limit.js').Holder} Holder
 * @typedef {'cpu'|'memory'} Controller
 * @typedef {[file: string, value: number|string, isOptional?: boolean]} Setting
 * @typedef {{controllers: Controller[], settings: Setting[], parents: string[]}} Part  `parents`: folders to make it in, the nearest first
 *
 * @typedef {object} Files  those of cgroups are no common ones: they are there once the folder is, and go with it
 * @property {(path: string) => string} read
 * @property {(path: string, text: string) => void} write
 * @property {(path: string) => void} make  a folder
 * @property {(path: string) => void} remove  a folder
 */

/** Short ones: a slow processor is slow all the time, and does not stand still for most of a tenth of a second. */
const PERIOD_MICROSECONDS = 10_000
const LONG_PERIOD_MICROSECONDS = 100_000
/** The kernel's, of a period's share. */
const MIN_QUOTA_MICROSECONDS = 1000

/** @type {Files} */
const SYSTEM = {
  read: path => readFileSync(path, 'utf8'),
  write: (path, text) => writeFileSync(path, text),
  make: path => { mkdirSync(path) },
  remove: rmdirSync
}

/** @implements {Holder} */
export class ControlGroup {
  #files
  #pid
  /** @type {{folder: string, home: string}[]} */
  #made = []
  /** What was changed for it. @type {(() => void)[]} */
  #undo = []

  /**
   * @param {Bounds} bounds
   * @param {{files?: Files, pid?: number}} [options]
   * @throws {SluiceError} SLUICE_BENCH_LIMIT why there can be none
   */
  constructor (bounds, { files = SYSTEM, pid = process.pid } = {}) {
    this.#files = files
    this.#pid = pid
    try {
      const { version, parts } = planOf(bounds, files)
      for (const part of parts) this.#make(part)
      this.text = `Limited to ${boundsText(bounds)} by a control group (version ${version}).`
    } catch (cause) {
      this.remove()
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (cause)
      throw new SluiceError('SLUICE_BENCH_LIMIT', `a control group cannot be made: ${code ?? message}`, { cause })
    }
  }

  enter () { for (const { folder } of this.#made) this.#move(folder) }

  leave () { for (const { home } of this.#made) this.#move(home) }

  remove () {
    for (const { folder } of this.#made.splice(0)) this.#files.remove(folder)
    for (const undo of this.#undo.splice(0)) undo()
  }

  /** All threads of the process. @param {string} folder */
  #move (folder) { this.#files.write(join(folder, 'cgroup.procs'), String(this.#pid)) }

  /** In the nearest of the folders that allows it. @param {Part} part */
  #make ({ controllers, settings, parents }) {
    let failure
    for (const parent of parents) {
      const folder = join(parent, `sluice-bench-${this.#pid}`)
      try {
        this.#enable(parent, controllers)
        this.#files.make(folder)
      } catch (error) {
        failure = error
        continue
      }
      this.#made.push({ folder, home: parents[0] })
      for (const setting of settings) this.#set(folder, setting)
      return
    }
    throw failure
  }

  /** In version 2, where what is below gets only the controllers that are said. @param {string} parent @param {Controller[]} controllers */
  #enable (parent, controllers) {
    const path = join(parent, 'cgroup.subtree_control')
    const missing = controllers.filter(name => !words(this.#files.read(path)).includes(name))
    if (missing.length === 0) return
    this.#files.write(path, missing.map(name => `+${name}`).join(' '))
    this.#undo.push(() => { this.#files.write(path, missing.map(name => `-${name}`).join(' ')) })
  }

  /** @param {string} folder @param {Setting} setting */
  #set (folder, [file, value, isOptional]) {
    try {
      this.#files.write(join(folder, file), String(value))
    } catch (error) {
      if (!isOptional) throw error
    }
  }
}

/** @param {Bounds} bounds @param {Files} files @returns {{version: 1|2, parts: Part[]}} */
function planOf (bounds, files) {
  const controllers = /** @type {Controller[]} */ ([...bounds.cores ? ['cpu'] : [], ...bounds.memoryBytes ? ['memory'] : []])
  const mounts = mountsIn(files.read('/proc/self/mountinfo'))
  const own = files.read('/proc/self/cgroup').split('\n').map(line => /^\d+:([^:]*):(.*)$/.exec(line))
  /** Where this process is, and what that is within. @param {string} controller  '': all of version 2 */
  const placeOf = controller => {
    const mount = mounts.find(each => each.controllers.includes(controller))
    if (!mount) return null
    const path = own.find(line => line?.[1].split(',').includes(controller))?.[2] ?? '/'
    const { root, point } = mount
    const within = root === '/' ? path : path.startsWith(`${root}/`) ? path.slice(root.length) : '/'
    return { point, home: join(point, within) }
  }
  const unified = placeOf('')
  if (unified && controllers.every(name => words(files.read(join(unified.point, 'cgroup.controllers'))).includes(name))) {
    return { version: 2, parts: [{ controllers, settings: version2(bounds), parents: upTo(unified.point, unified.home) }] }
  }
  const parts = controllers.map(name => {
    const place = placeOf(name)
    if (!place) throw new Error(`there is no controller "${name}" here`)
    return { controllers: [], settings: version1(bounds)[name], parents: [place.home] }
  })
  return { version: 1, parts }
}

/** @param {Bounds} bounds @returns {Setting[]} */
function version2 ({ cores, memoryBytes }) {
  return [
    .../** @type {Setting[]} */ (cores ? [['cpu.max', quotaOf(cores).join(' ')]] : []),
    .../** @type {Setting[]} */ (memoryBytes ? [['memory.max', memoryBytes], ['memory.swap.max', 0, true]] : [])
  ]
}

/** @param {Bounds} bounds @returns {Record<Controller, Setting[]>} */
function version1 ({ cores = 1, memoryBytes = 0 }) {
  const [quota, period] = quotaOf(cores)
  return {
    cpu: [['cpu.cfs_period_us', period], ['cpu.cfs_quota_us', quota]],
    memory: [['memory.limit_in_bytes', memoryBytes], ['memory.memsw.limit_in_bytes', memoryBytes, true]]
  }
}

/** @param {number} cores @returns {[quota: number, period: number]} in microseconds */
function quotaOf (cores) {
  const period = cores * PERIOD_MICROSECONDS < MIN_QUOTA_MICROSECONDS ? LONG_PERIOD_MICROSECONDS : PERIOD_MICROSECONDS
  return [Math.round(cores * period), period]
}

/** A folder and those around it. @param {string} point @param {string} folder @returns {string[]} */
function upTo (point, folder) {
  return folder === point || folder === dirname(folder) ? [folder] : [folder, ...upTo(point, dirname(folder))]
}

/** @param {string} text */
function words (text) { return text.split(/\s+/).filter(Boolean) }
