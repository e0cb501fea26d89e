import { isNumber, tickText } from '../numbers.js'
import { clock } from '../times.js'
import { logTicks, multiples, niceStep, scaled, timeStep } from './ticks.js'

/**
 * @typedef {object} Scale
 * @property {(value: number) => number} at  in pixels; what lies outside stands on the edge
 * @property {(value: unknown) => value is number} has  whether a value has a place: 0 has none on a logarithmic axis
 * @property {number} start  in pixels: where bars begin
 * @property {{value: number, text: string}[]} ticks
 * @property {number[]} minor
 *
 * @typedef {object} ScaleOptions
 * @property {Iterable<unknown>} values  numbers and what is not one
 * @property {number} from  pixels
 * @property {number} to
 * @property {number} count  of ticks, about
 * @property {boolean} [isLog]
 * @property {boolean} [isTime]  seconds
 * @property {boolean} [isForBars]  every value has a length: from 0, or from below the smallest one
 */

/** @param {ScaleOptions} options @returns {Scale} */
export function scaleOf (options) {
  return options.isLog ? logScale(options) : linearScale(options)
}

/** @param {ScaleOptions} options @returns {Scale} */
function linearScale ({ values, from, to, count, isTime = false, isForBars = false }) {
  let [min, max] = range(values, isNumber) ?? [0, 1]
  if (isForBars || (!isTime && min > 0 && min < max / 2)) [min, max] = [Math.min(min, 0), Math.max(max, 0)]
  if (min === max) [min, max] = min === 0 ? [0, 1] : [Math.min(min, 0), Math.max(max, 0)]
  const step = isTime ? timeStep(max - min, count) : niceStep(max - min, count)
  if (!isTime) [min, max] = [Math.floor(min / step + 1e-9) * step, Math.ceil(max / step - 1e-9) * step]
  const at = placed(min, max, from, to)
  const text = isTime && step >= 1 && max >= 60 ? clock : tickText
  return {
    at, has: isNumber, start: at(Math.max(0, min)), ticks: multiples(min, max, step).map(value => ({ value, text: text(value) })), minor: []
  }
}

/** @param {ScaleOptions} options @returns {Scale} */
function logScale ({ values, from, to, count, isForBars = false }) {
  const has = (/** @type {unknown} */ value) => isNumber(value) && value > 0
  const [least, most] = range(values, has) ?? [1, 10]
  const min = below(isForBars ? least / 1.5 : least)
  const max = Math.max(above(most), above(min * 1.5))
  const place = placed(Math.log10(min), Math.log10(max), from, to)
  const { major, minor } = logTicks(min, max, count)
  return {
    at: value => place(Math.log10(Math.max(value, min))),
    has: /** @type {Scale['has']} */ (has),
    start: from,
    ticks: major.map(value => ({ value, text: tickText(value) })),
    minor
  }
}

/** @param {number} min @param {number} max @param {number} from @param {number} to */
function placed (min, max, from, to) {
  return (/** @type {number} */ value) => from + (to - from) * Math.min(1, Math.max(0, (value - min) / (max - min)))
}

/** @param {Iterable<unknown>} values @param {(value: unknown) => boolean} has @returns {[number, number]|null} */
function range (values, has) {
  let [min, max] = [Infinity, -Infinity]
  for (const value of /** @type {Iterable<number>} */ (values)) {
    if (!has(value)) continue
    min = Math.min(min, value)
    max = Math.max(max, value)
  }
  return min <= max ? [min, max] : null
}

/** The next 1, 2 or 5 times a power of ten, at most the value. @param {number} value */
function below (value) {
  const exponent = Math.floor(Math.log10(value) + 1e-9)
  return scaled([5, 2, 1].find(factor => factor * 10 ** exponent <= value * (1 + 1e-9)) ?? 1, exponent)
}

/** Likewise, at least the value. @param {number} value */
function above (value) {
  const exponent = Math.floor(Math.log10(value) + 1e-9)
  return scaled([1, 2, 5, 10].find(factor => factor * 10 ** exponent >= value * (1 - 1e-9)) ?? 10, exponent)
}
