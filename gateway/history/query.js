import { fromCell } from './cells.js'
import { keyOf } from './chunk.js'
import { MEASURES } from './measures.js'
import { COARSE_MS, DAY_MS, HOUR_MS, STEP_MS } from './spans.js'

/**
 * @typedef {import('./folder.js').Folder} Folder
 * @typedef {import('./chunk.js').Chunk} Chunk
 * @typedef {import('./chunk.js').Series} Series
 * @typedef {import('./measures.js').Measure} Measure
 * @typedef {import('./readings.js').Subject} Subject
 * @typedef {{key: string, series: Series, measure: Measure}} Asked
 * @typedef {{fromMs: number, toMs: number, stepMs: number, series: Record<string, (number|null)[]>}} Answer
 * @typedef {{key: string, subject: Subject, measure: string, unit: string, help: string}} Listed
 * @typedef {{hour: number, chunk: Chunk}|null} Current  the hour under way
 */

const DIGITS = 4
/** Large steps are found in few rounds, whatever the window. */
const STEP_GROWTH = 1.01

/** What a key means; undefined when nothing. @param {string} key @returns {Asked|undefined} */
export function asked (key) {
  const end = key.lastIndexOf('/')
  const [subject, name] = [key.slice(0, end), key.slice(end + 1)]
  const type = /** @type {Subject['type']} */ (subject.split('/')[0])
  const measure = Object.hasOwn(MEASURES, type) ? MEASURES[type].find(each => each.name === name) : undefined
  return measure && { key, series: { subject, measure: name }, measure }
}

/**
 * Whole steps that cover the window in so many points at most: of ten seconds, or more of them; from five minutes on, of so many.
 * @param {{fromMs: number, toMs: number, points: number}} window
 * @param {number} finestMs
 */
export function stepsOf ({ fromMs, toMs, points }, finestMs) {
  let stepMs = finestMs
  while (true) {
    const [first, last] = [Math.floor(fromMs / stepMs), Math.ceil(toMs / stepMs)]
    if (last - first <= points) return { fromMs: first * stepMs, toMs: last * stepMs, stepMs }
    const base = stepMs >= COARSE_MS ? COARSE_MS : STEP_MS
    stepMs = Math.max(Math.ceil((toMs - fromMs) / points / base), Math.floor(stepMs / base * STEP_GROWTH) + 1) * base
    if (stepMs > COARSE_MS) stepMs = Math.ceil(stepMs / COARSE_MS) * COARSE_MS
  }
}

/**
 * One file after the other, and each is short work: others have the event loop between them.
 * @param {Folder} folder
 * @param {Current} current
 * @param {{fromMs: number, toMs: number, stepMs: number}} steps
 * @param {Asked[]} all
 * @returns {Promise<Answer>}
 */
export async function query (folder, current, steps, all) {
  const count = (steps.toMs - steps.fromMs) / steps.stepMs
  const gathered = new Map(all.map(each => [each.series, new Gathered(each.measure.over, count)]))
  const series = [...gathered.keys()]
  const hours = new Set(current && [current.hour])
  const take = (/** @type {Pick<Chunk, 'span'|'read'>} */ from, isDay = false) => {
    const { stepMs, start } = from.span
    for (const [each, cells] of from.read(series)) {
      const into = /** @type {Gathered} */ (gathered.get(each))
      for (let i = 0; i < cells.length; i++) {
        const timeMs = (start + i) * stepMs
        if (cells[i] === 0 || timeMs < steps.fromMs || timeMs >= steps.toMs) continue
        if (isDay && hours.has(Math.floor(timeMs / HOUR_MS))) continue
        into.add(Math.floor((timeMs - steps.fromMs) / steps.stepMs), fromCell(cells[i]), stepMs)
      }
    }
  }
  if (current) take(current.chunk)
  const files = folder.files.filter(({ kind, hour }) => {
    const startMs = hour * HOUR_MS
    return startMs < steps.toMs && startMs + (kind === 'day' ? DAY_MS : HOUR_MS) > steps.fromMs
  })
  for (const { name, hour } of files.filter(({ kind }) => kind !== 'day')) {
    if (hours.has(hour)) continue // a kill may have left the minutes beside their hour
    hours.add(hour)
    for (const block of await folder.read(name)) take(block)
  }
  for (const { name } of files.filter(({ kind }) => kind === 'day' && steps.stepMs >= COARSE_MS)) {
    for (const block of await folder.read(name)) take(block, true)
  }
  return { ...steps, series: Object.fromEntries(all.map(each => [each.key, gathered.get(each.series)?.values ?? []])) }
}

/**
 * All that there is something of, under the name it had last.
 * @param {Folder} folder
 * @param {Current} current
 * @returns {Promise<Listed[]>}
 */
export async function list (folder, current) {
  /** @type {Map<string, Subject>} */
  const subjects = new Map()
  for (const { name } of folder.files) {
    for (const block of await folder.read(name)) {
      for (const [key, { subject }] of block.subjects) subjects.set(key, subject)
    }
  }
  for (const { subject } of current?.chunk.columns.values() ?? []) subjects.set(keyOf(subject), subject)
  return Array.from(subjects).flatMap(([key, subject]) => (MEASURES[subject.type] ?? []).map(({ name: measure, unit, help }) => {
    return { key: `${key}/${measure}`, subject, measure, unit, help }
  }))
}

/** What comes together in each step. */
class Gathered {
  #over
  #values
  /** How long something is known of. */
  #knownMs

  /** @param {import('./measures.js').Over} over @param {number} count */
  constructor (over, count) {
    this.#over = over
    this.#values = new Float64Array(count)
    this.#knownMs = new Float64Array(count)
  }

  /** @param {number} step @param {number} value @param {number} ms  that it is of */
  add (step, value, ms) {
    const isFirst = this.#knownMs[step] === 0
    this.#knownMs[step] += ms
    const before = this.#values[step]
    if (this.#over === 'mean') this.#values[step] += value * ms
    else if (this.#over === 'sum') this.#values[step] += value
    else if (this.#over === 'max') this.#values[step] = isFirst ? value : Math.max(before, value)
    else this.#values[step] = isFirst ? value : Math.min(before, value)
  }

  /** @returns {(number|null)[]} */
  get values () {
    return Array.from(this.#values, (value, step) => {
      const ms = this.#knownMs[step]
      if (ms === 0) return null
      return this.#over === 'sum' ? Math.round(value) : Number((this.#over === 'mean' ? value / ms : value).toPrecision(DIGITS))
    })
  }
}
