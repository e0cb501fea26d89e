import { KINDS } from '../gateway/alarms/kinds/index.js'

/** The kinds of alarms: names for the help of the node, a table for `docs/alarms.md`. */
export const alarmNames = () => `${Object.keys(KINDS).map(kind => `\`${kind}\``).join(', ')}.`

export function alarmTable () {
  const rows = Object.entries(KINDS).map(([kind, { when, level, raiseAfterMs, clearAfterMs }]) => {
    return `| \`${kind}\` | ${level} | ${when} | ${lasting(raiseAfterMs)} | ${lasting(clearAfterMs)} |`
  })
  return ['| Kind | Level, at most | Raised when | after | Cleared after |', '|---|---|---|---|---|', ...rows].join('\n')
}

/** @param {number} ms */
function lasting (ms) {
  if (ms >= 3_600_000) return `${ms / 3_600_000} h`
  return ms >= 60_000 ? `${ms / 60_000} min` : `${ms / 1000} s`
}
