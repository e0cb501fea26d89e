import { execFileSync } from 'node:child_process'
import { SluiceError } from '../../base/errors.js'
import { boundsText } from './bounds-text.js'

/**
 * Without control groups: fewer cores, whole ones, by `taskset`. What is missing to the share that was asked for is said as a factor.
 *
 * @typedef {import('./limit.js').Holder} Holder
 * @implements {Holder}
 */
export class Affinity {
  #all
  #few

  /**
   * @param {import('./limit.js').Bounds} bounds
   * @param {{why: string, run?: (args: string[]) => string}} options  `why`: there is no control group
   * @throws {SluiceError} SLUICE_BENCH_LIMIT
   */
  constructor (bounds, { why, run = taskset }) {
    const { cores, memoryBytes } = bounds
    const fix = 'Run it as root, or in a container with these limits.'
    if (cores === undefined) throw new SluiceError('SLUICE_BENCH_LIMIT', `Memory is not limited: ${why}`, { fix })
    this.#run = run
    try {
      this.#all = run(['-cp', String(process.pid)]).split(':').at(-1)?.trim() ?? ''
    } catch (cause) {
      throw new SluiceError('SLUICE_BENCH_LIMIT', `Neither control groups nor taskset: ${why}`, { cause, fix })
    }
    const available = coresIn(this.#all)
    const count = Math.min(Math.ceil(cores), available.length)
    this.#few = available.slice(0, count).join(',')
    const factor = cores / count
    this.text = [
      `Held to ${count === 1 ? 'one whole core' : `${count} whole cores`} by taskset, where ${boundsText(bounds)} was asked for (${why}).`,
      factor < 1 && `What the processor bounds would be ${Number(factor.toFixed(2))} times the figures here.`,
      memoryBytes !== undefined && 'Memory is not limited.'
    ].filter(Boolean).join(' ')
  }

  /** @type {(args: string[]) => string} */
  #run

  enter () { this.#move(this.#few) }

  leave () { this.#move(this.#all) }

  remove () {}

  /** All threads of the process. @param {string} cores */
  #move (cores) { this.#run(['-acp', cores, String(process.pid)]) }
}

/** @param {string[]} args */
function taskset (args) { return execFileSync('taskset', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }) }

/** "0,2-4" @param {string} list @returns {number[]} */
function coresIn (list) {
  return list.split(',').flatMap(part => {
    const [first, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  })
}
