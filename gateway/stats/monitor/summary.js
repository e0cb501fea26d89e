import { COUNTERS } from './usage.js'

/**
 * What a series of samples amounts to.
 *
 * @typedef {import('./usage.js').Sample} Sample
 *
 * @typedef {object} Rate  of a counter
 * @property {number} growth  from the first sample that has it to the last
 * @property {number} mean  a second, over that time
 * @property {number} max  a second, between two samples that have it
 *
 * @typedef {object} Level  of what is no counter
 * @property {number} growth  from the first sample that has it to the last
 * @property {number} mean
 * @property {number} max
 *
 * @typedef {Record<string, Rate|Level>} UsageSummary  by the names of the usage, with those of counters as rates: `cpuSeconds` as
 *   `cpuPercent`, of one core, as all seconds; `readBytes` as `readBytesPerSecond`, as all else. `growth` remains in the counter's unit.
 *   Of a cgroup: `cgroup.cpuPercent` and so on
 *
 * @typedef {object} Summary
 * @property {number} seconds  from the first sample to the last
 * @property {number} samples
 * @property {Record<string, UsageSummary>} processes  by name
 * @property {Record<string, UsageSummary>} folders
 * @property {UsageSummary} machine
 * @property {string[]} notes  of all samples
 */

/**
 * @param {Sample[]} samples
 * @returns {Summary}
 */
export function summarise (samples) {
  const names = (/** @type {'processes'|'folders'} */ kind) => [...new Set(samples.flatMap(sample => Object.keys(sample[kind])))]
  const each = (/** @type {'processes'|'folders'} */ kind) => Object.fromEntries(names(kind).map(name => {
    return [name, summaryOf(samples, sample => sample[kind][name])]
  }))
  return {
    seconds: samples.slice(1).reduce((sum, { elapsedSeconds }, i) => sum + Math.max(0, elapsedSeconds - samples[i].elapsedSeconds), 0),
    samples: samples.length,
    processes: each('processes'),
    folders: each('folders'),
    machine: summaryOf(samples, sample => sample.machine),
    notes: [...new Set(samples.flatMap(({ notes }) => notes))]
  }
}

/** @param {Sample[]} samples @param {(sample: Sample) => object|undefined} usageOf @returns {UsageSummary} */
function summaryOf (samples, usageOf) {
  /** @type {Map<string, [seconds: number, value: number][]>} */
  const series = new Map()
  for (const sample of samples) {
    for (const [key, value] of flat(usageOf(sample) ?? {})) {
      const points = series.get(key) ?? []
      points.push([sample.elapsedSeconds, value])
      series.set(key, points)
    }
  }
  return Object.fromEntries([...series].flatMap(([key, points]) => {
    const name = /** @type {string} */ (key.split('.').at(-1))
    if (!COUNTERS.has(name)) return name === 'version' ? [] : [[key, levelOf(points)]]
    const rate = rateOf(points, name.endsWith('Seconds') ? 100 : 1)
    return rate ? [[rateName(key), rate]] : []
  }))
}

/** @param {object} usage @returns {[key: string, value: number][]} */
function flat (usage) {
  return Object.entries(usage).flatMap(([key, value]) => {
    if (typeof value !== 'object') return [[key, value]]
    return flat(value).map(([inner, number]) => /** @type {[string, number]} */ ([`${key}.${inner}`, number]))
  })
}

/** @param {string} key */
function rateName (key) { return key.endsWith('Seconds') ? key.replace(/Seconds$/, 'Percent') : `${key}PerSecond` }

/**
 * A counter that falls has begun again, as that of a remote monitor that was started again: what it had counted since is not known.
 * @param {[seconds: number, value: number][]} points
 * @param {number} scale
 * @returns {Rate|undefined} undefined of a single point
 */
function rateOf (points, scale) {
  let [growth, seconds, max] = [0, 0, 0]
  for (let i = 1; i < points.length; i++) {
    const [passed, counted] = [points[i][0] - points[i - 1][0], points[i][1] - points[i - 1][1]]
    if (passed <= 0 || counted < 0) continue
    growth += counted
    seconds += passed
    max = Math.max(max, counted / passed * scale)
  }
  return seconds > 0 ? { growth, mean: growth / seconds * scale, max } : undefined
}

/** @param {[seconds: number, value: number][]} points @returns {Level} */
function levelOf (points) {
  const values = points.map(([, value]) => value)
  return {
    growth: values[values.length - 1] - values[0],
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    max: values.reduce((most, value) => Math.max(most, value), -Infinity)
  }
}
