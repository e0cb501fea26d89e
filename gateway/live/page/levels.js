/**
 * How something is, in the colours of the editor: red is a problem, yellow a warning, green good, blue busy, grey idle.
 *
 * @typedef {'problem'|'warning'|'good'|'busy'|'idle'} Level
 * @typedef {import('../../stats/alarm.js').Alarm} Alarm
 */

/** The worst first. @type {readonly Level[]} */
export const LEVELS = ['problem', 'warning', 'busy', 'good', 'idle']

/** @type {Record<string, Level>} by the first letter of what a node shows */
const FILLS = { r: 'problem', y: 'warning', b: 'busy', g: 'good', s: 'idle' }

/** @param {string} fill @param {boolean} hasSent @param {Alarm[]} alarms  about it @returns {Level} */
export function sourceLevel (fill, hasSent, alarms) {
  return worst([...alarms.map(({ level }) => level), FILLS[fill] ?? (hasSent ? 'good' : 'idle')])
}

/**
 * A sink that is not connected is never good, whatever else is said of it.
 * @param {Pick<import('../overview/places.js').SinkState, 'isConnected'|'wasReached'|'problem'|'status'>} sink
 * @param {Alarm[]} alarms  about it
 * @returns {Level}
 */
export function sinkLevel ({ isConnected, wasReached, problem, status }, alarms) {
  const away = wasReached || problem !== '' || status.fill === 'red' ? 'problem' : 'busy'
  return worst([...alarms.map(({ level }) => level), isConnected ? FILLS[status.fill?.[0] ?? 'g'] ?? 'good' : away])
}

/** @param {import('../overview/places.js').StageState} stage @returns {Level} */
export function stageLevel ({ isConnected, blocked, status }) {
  return !isConnected || blocked !== '' ? 'problem' : FILLS[status.fill?.[0] ?? 'g'] ?? 'good'
}

/** @param {Level[]} levels @returns {Level} */
export function worst (levels) { return LEVELS.find(level => levels.includes(level)) ?? 'idle' }
