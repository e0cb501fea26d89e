import { dbcStatements } from '../../can/dbc/statements.js'

const EXTENDED_FLAG = 0x80000000
const OF_MESSAGE = /^BA_\s+"GenMsgCycleTime"\s+BO_\s+(\d+)\s+(\d+(?:\.\d+)?)$/
const BY_DEFAULT = /^BA_DEF_DEF_\s+"GenMsgCycleTime"\s+(\d+(?:\.\d+)?)$/

/**
 * How often the messages of a DBC file are sent, by its attribute GenMsgCycleTime. A file that has no time but 0 does not define it.
 * @param {string} text
 * @returns {(message: {id: number, extended: boolean}) => number|undefined} milliseconds, at least 1; 0: not cyclic; undefined: the file
 *   does not define it
 */
export function cycleTimesOf (text) {
  const times = new Map()
  /** @type {number|undefined} */
  let byDefault
  for (const { keyword, text: statement } of dbcStatements(text)) {
    if (keyword === 'BA_') {
      const [, number, ms] = OF_MESSAGE.exec(statement) ?? []
      if (ms !== undefined) times.set(Number(number), cycleOf(ms))
    } else if (keyword === 'BA_DEF_DEF_') {
      const [, ms] = BY_DEFAULT.exec(statement) ?? []
      if (ms !== undefined) byDefault = cycleOf(ms)
    }
  }
  if (![...times.values(), byDefault ?? 0].some(ms => ms > 0)) return () => undefined
  return ({ id, extended }) => times.get(extended ? id + EXTENDED_FLAG : id) ?? times.get(id) ?? byDefault
}

/** @param {string} ms */
function cycleOf (ms) {
  return Number(ms) > 0 ? Math.max(1, Number(ms)) : 0
}
