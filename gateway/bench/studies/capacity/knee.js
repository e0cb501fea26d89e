/**
 * The search for the most sensors that go well: more and more, until it breaks, and then between the last that went well and the first that
 * did not.
 *
 * @typedef {object} Step
 * @property {number} sensors
 * @property {number} p50Ms  from sample to commit; NaN where nothing was stored
 * @property {number} p99Ms
 * @property {number} wantedRows  of the sensors in the time that was measured
 * @property {number} stagedRows  that reached the spool
 * @property {number[]} waitingRows  that are in the spool and not stored yet, over time
 * @property {Record<string, number>} measures  what else was measured
 * @property {string} [ended]  the gateway has, and how: out of memory, for example
 *
 * @typedef {object} Bounds  when it breaks
 * @property {number} p99Ms  above it
 * @property {number} p99Times  above so many times that of the quiet level, which is the first step
 *
 * @typedef {Step & {broken: string|null}} Judged  `broken`: why
 * @typedef {{steps: Judged[], last: Judged|null, first: Judged|null, isOver: boolean}} Knee  the last step that went well, and the first
 *   with more that did not; `isOver`: false where the search was stopped
 */

/** Between the last that went well and the first that did not. */
export const PRECISION = 1.1
const FACTOR = 2
/** So many of the rows may be under way when a step begins or ends: a share, and those of some times. */
const SHARE_MISSED = 0.02
const TIMES_MISSED = 3
const SHARE_WAITING = 0.05
const PARTS = 4

/**
 * @param {object} search
 * @param {(sensors: number, how: {isAnew: boolean}) => Promise<Step>} search.measure  `isAnew`: in a new gateway, since what was before has
 *   broken it; rejects when it is stopped
 * @param {number} search.least @param {number} search.most  sensors
 * @param {Bounds} search.bounds
 * @param {(step: Judged, stepsLeft: number) => void} [search.progress]
 * @param {AbortSignal} search.signal  it ends with what has been found by then
 * @returns {Promise<Knee>}
 */
export async function findKnee ({ measure, least, most, bounds, progress = () => {}, signal }) {
  /** @type {Knee} */
  const knee = { steps: [], last: null, first: null, isOver: false }
  /** @param {number} sensors  that may break once: one hiccup of the machine is no knee */
  const goesWell = async sensors => {
    for (let tries = 0; ; tries++) {
      const step = await measure(sensors, { isAnew: knee.steps.at(-1)?.broken !== null })
      const judged = { ...step, broken: whyBroken(step, knee.steps.find(({ broken }) => broken === null), bounds) }
      knee.steps.push(judged)
      if (judged.broken === null) knee.last = judged
      else if (tries > 0) knee.first = judged
      const isDone = judged.broken === null || tries > 0
      progress(judged, stepsLeft(knee, { least, most }) + (isDone ? 0 : 1))
      if (isDone) return judged.broken === null
    }
  }
  try {
    for (let next = /** @type {number|null} */ (least); next !== null; next = nextStep(knee, { most })) await goesWell(next)
    knee.isOver = true
  } catch (error) {
    if (!signal.aborted) throw error
  }
  return knee
}

/**
 * How many sensors come next; null where the knee is found.
 * @param {Pick<Knee, 'last'|'first'>} knee @param {{most: number}} range
 * @returns {number|null}
 */
export function nextStep ({ last, first }, { most }) {
  if (!first) return !last || last.sensors >= most ? null : Math.min(most, last.sensors * FACTOR)
  if (!last) return first.sensors > 1 ? Math.floor(first.sensors / (FACTOR * FACTOR)) || 1 : null
  const between = rounded(Math.sqrt(last.sensors * first.sensors))
  return first.sensors <= last.sensors * PRECISION || between <= last.sensors || between >= first.sensors ? null : between
}

/**
 * Why a step has broken; null where it went well.
 * @param {Step} step @param {Step|undefined} quiet  the first that went well @param {Bounds} bounds
 */
export function whyBroken ({ sensors, p99Ms, wantedRows, stagedRows, waitingRows, ended }, quiet, bounds) {
  if (ended) return ended
  if (Number.isNaN(p99Ms)) return 'nothing was stored'
  if (stagedRows < wantedRows * (1 - SHARE_MISSED) - TIMES_MISSED * sensors) {
    return `${(100 - stagedRows / wantedRows * 100).toFixed(0)} % of the samples did not reach the spool`
  }
  if (p99Ms > bounds.p99Ms) return `p99 is ${Math.round(p99Ms)} ms, above ${bounds.p99Ms} ms`
  const most = quiet && quiet.p99Ms * bounds.p99Times
  if (most && p99Ms > most) return `p99 is ${Math.round(p99Ms)} ms, above ${bounds.p99Times} times that of the quiet level`
  const least = leastOfParts(waitingRows)
  const isGrowing = least.every((rows, i) => i === 0 || rows > least[i - 1])
  if (isGrowing && least[PARTS - 1] - least[0] > wantedRows * SHARE_WAITING) return 'the spool grew over the whole step'
  return null
}

/** Of each fourth of a step: what waits goes up and down as it is stored by batches. @param {number[]} rows */
function leastOfParts (rows) {
  const at = (/** @type {number} */ part) => Math.floor(part * rows.length / PARTS)
  return Array.from({ length: PARTS }, (_, part) => Math.min(...rows.slice(at(part), at(part + 1))))
}

/** About, at the pace of the search. @param {Knee} knee @param {{least: number, most: number}} range */
function stepsLeft ({ last, first }, { least, most }) {
  const high = first?.sensors ?? most
  const low = last?.sensors ?? Math.min(least, high)
  const refining = (/** @type {number} */ factor) => Math.max(0, Math.ceil(Math.log2(Math.log(factor) / Math.log(PRECISION))))
  if (first && !last) return Math.ceil(Math.log(first.sensors) / Math.log(FACTOR * FACTOR)) + refining(FACTOR * FACTOR)
  return first ? refining(high / low) : Math.ceil(Math.log2(Math.max(1, high / low))) + refining(FACTOR) + 1
}

/** To two digits. @param {number} number */
function rounded (number) { return Number(number.toPrecision(2)) }
