import { RATE_HZ } from './gateway.js'

/**
 * What was found.
 * @param {import('./knee.js').Knee} knee
 * @param {{version: string, seconds: number}} of
 */
export function sentence ({ last, first, steps, isOver }, { version, seconds }) {
  const until = isOver ? '' : ' It was stopped before the knee was found.'
  if (!last) {
    if (steps.length === 0) return `Nothing was measured.${until}`
    const least = Math.min(...steps.map(({ sensors }) => sensors))
    return `This machine does not take ${many(least)} sensors at ${RATE_HZ} Hz into ${version}: ${steps.at(-1)?.broken}.${until}`
  }
  const { sensors, p99Ms, measures: { cpuPercent } } = last
  const share = cpuPercent === undefined ? '' : `, ${Math.round(cpuPercent)} % of a core`
  const more = first ? ` At ${many(first.sensors)}, ${first.broken}.` : ''
  return `This machine takes ${first ? '' : 'at least '}${many(sensors)} sensors at ${RATE_HZ} Hz (${many(sensors * RATE_HZ)} values/s) ` +
    `into ${version}: p99 ${Math.round(p99Ms)} ms${share}, over ${seconds} s.${more}${until}`
}

/** @param {number} number */
function many (number) { return number.toLocaleString('en-US') }
