import { setImmediate as nextTurn } from 'node:timers/promises'
import { SluiceError } from '../../gateway/base/errors.js'
import { mutated } from './mutate.js'
import { Random } from './random.js'

/**
 * @typedef {object} Target  what reads bytes that anybody may have sent
 * @property {string} name
 * @property {readonly Buffer[]} samples  that are good
 * @property {(random: Random) => Buffer} invent  something like them
 * @property {(bytes: Buffer, random: Random, pause: () => Promise<void>) => number|Promise<number>} read  how many values it made of them;
 *   it pauses where what it tries does
 * @property {string[]} [refusals]  codes of the errors that it may throw
 *
 * @typedef {{case: number, bytes: number, ms: number, values: number}} Extreme
 * @typedef {{target: string, case: number, problem: string, bytes: string}} Failure  `bytes` in base64
 * @typedef {object} FuzzResult
 * @property {number} cases
 * @property {number} seed
 * @property {number} longestMs  of all cases, the one that took longest
 * @property {Record<string, {cases: number, longest: Extreme, most: Extreme}>} byTarget  `longest`: the case that took longest; `most`: the
 *   one that made most values
 * @property {number} peakMegabytes  of memory, of the whole process
 * @property {number} failed
 * @property {Failure[]} failures  the first ones
 */

const MAX_FAILURES = 20
/** @type {Extreme} */
const NOTHING = { case: -1, bytes: 0, ms: 0, values: 0 }
/** Cells that any message may have, and some more for those with a value in each. */
const MAX_VALUES = 1_200_000

/**
 * Runs cases, each with one target in turn.
 * @param {readonly Target[]} targets
 * @param {{cases: number, seed: number, first?: number}} options  `first`: the number of the first case
 * @returns {Promise<FuzzResult>}
 */
export async function fuzz (targets, { cases, seed, first = 0 }) {
  /** @type {Failure[]} */
  const failures = []
  let failed = 0
  const byTarget = Object.fromEntries(targets.map(({ name }) => [name, { cases: 0, longest: NOTHING, most: NOTHING }]))
  for (let number = first; number < first + cases; number++) {
    const target = targets[number % targets.length]
    const sum = byTarget[target.name]
    sum.cases++
    const bytes = bytesOf(target, seed, number)
    const { values, problem, ...took } = await attempt(target, seed, number, bytes)
    let { ms } = took
    // It may have been the collection of garbage, or the first time.
    if (ms > sum.longest.ms) ms = Math.min(ms, (await attempt(target, seed, number, bytes)).ms)
    const extreme = { case: number, bytes: bytes.length, ms: Math.round(ms * 10) / 10, values }
    if (ms > sum.longest.ms) sum.longest = extreme
    if (values > sum.most.values) sum.most = extreme
    if (problem === null) continue
    failed++
    if (failures.length < MAX_FAILURES) failures.push({ target: target.name, case: number, problem, bytes: bytes.toString('base64') })
  }
  const longestMs = Math.max(...Object.values(byTarget).map(({ longest }) => longest.ms))
  const peakMegabytes = Math.round(process.resourceUsage().maxRSS / 1024)
  return { cases, seed, longestMs, peakMegabytes, failed, failures, byTarget }
}

/** @param {Target} target @param {number} seed @param {number} number */
function bytesOf ({ samples, invent }, seed, number) {
  const random = new Random(seed, number)
  const kind = random.below(10)
  if (kind < 6) return mutated(random, samples)
  return kind < 9 ? mutated(random, [invent(random), invent(random)]) : invent(random)
}

/** @param {Target} target @param {number} seed @param {number} number @param {Buffer} bytes */
async function attempt ({ read, refusals = [] }, seed, number, bytes) {
  const random = new Random(~seed, number)
  let ms = 0
  let since = now()
  const note = () => { ms = Math.max(ms, workMs(since)) }
  const pause = async () => {
    note()
    await nextTurn()
    since = now()
  }
  let values = 0
  /** @type {string|null} */
  let problem = null
  try {
    const made = read(bytes, random, pause)
    values = typeof made === 'number' ? made : await made
    if (values > MAX_VALUES) problem = `${values} values of ${bytes.length} bytes`
  } catch (error) {
    const isRefusal = error instanceof SluiceError && refusals.includes(error.code)
    if (!isRefusal) problem = error instanceof Error ? String(error.stack) : String(error)
  }
  note()
  return { ms, values, problem }
}

const now = () => ({ wallMs: performance.now(), cpu: process.cpuUsage() })

/**
 * How long it has been at work: other processes may have had the processor meanwhile, and other threads of this one another.
 * @param {ReturnType<typeof now>} since
 */
function workMs ({ wallMs, cpu }) {
  const { user, system } = process.cpuUsage(cpu)
  return Math.min(performance.now() - wallMs, (user + system) / 1000)
}
