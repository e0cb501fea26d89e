import { ADDRESSES, isBits } from './modbus-addresses.js'
import { WORDS } from './modbus-tags.js'
import { say } from './sentences.js'
import { readUnits, unitsProblem } from './units.js'

/**
 * What the tables of a simulated Modbus device may not have: the same for the form and for the gateway.
 *
 * @typedef {{row: number, column: string, problem: string}} CellProblem
 * @typedef {{area: import('./modbus-addresses.js').Area, address: number, unit: string, type: string}} Register
 */

/** The framing of those faults that are for one kind only. @type {Record<string, 'tcp'|'rtu'>} */
export const FRAMING_OF = { 'wrong-transaction': 'tcp', 'bad-crc': 'rtu' }

/**
 * Rows that do not fit, or that use what another has.
 * @param {Register[]} rows  as their schema reads them
 * @param {string} unitTitle  of the column
 * @returns {CellProblem[]}
 */
export function registerProblems (rows, unitTitle) {
  const wrong = rows.flatMap(({ unit }, row) => cell(row, 'unit', unit ? unitsProblem(unitTitle, unit) : undefined))
  const isWrong = new Set(wrong.map(({ row }) => row))
  const right = rows.map((row, index) => ({ ...row, index })).filter(({ index, address }) => !isWrong.has(index) && address !== undefined)
    .map(row => ({ ...row, units: row.unit ? readUnits(row.unit) : null, end: endOf(row) }))
  const beyond = right.filter(({ end }) => end > ADDRESSES)
    .flatMap(({ index, address, end }) => cell(index, 'address', say('noFit', { count: end - address, address, last: ADDRESSES - 1 })))
  return [...wrong, ...beyond, ...[...Map.groupBy(right, ({ area }) => area).values()].flatMap(overlaps)]
}

/**
 * @param {(Register & {index: number, end: number, units: Set<number>|null})[]} rows  of one area
 * @returns {CellProblem[]}
 */
function overlaps (rows) {
  const sorted = [...rows].sort((a, b) => a.address - b.address || a.index - b.index)
  return sorted.flatMap(({ area, end, units, index }, i) => {
    const behind = sorted.slice(i + 1)
    const free = behind.findIndex(({ address }) => address >= end)
    const within = free === -1 ? behind : behind.slice(0, free)
    return within.filter(other => !units || !other.units || [...units].some(unit => other.units?.has(unit)))
      .flatMap(other => cell(Math.max(index, other.index), 'address', say('sameAddress', { address: other.address, area })))
  })
}

/** @param {Register} row */
const endOf = ({ area, address, type }) => address + (isBits(area) ? 1 : WORDS[type] ?? 1)

/**
 * What is wrong with a fault.
 * @param {{fault: string, unit: string}} fault @param {string} connection @param {string} unitTitle
 * @returns {{column: string, problem: string}|undefined}
 */
export function faultProblem ({ fault, unit }, connection, unitTitle) {
  const needed = FRAMING_OF[fault]
  if (needed && needed !== (connection === 'tcp' ? 'tcp' : 'rtu')) {
    return { column: 'fault', problem: say('framing', { fault, kind: needed === 'tcp' ? 'Modbus TCP' : 'RTU' }) }
  }
  const problem = unit ? unitsProblem(unitTitle, unit) : undefined
  return problem === undefined ? undefined : { column: 'unit', problem }
}

/** @param {number} row @param {string} column @param {string|undefined} problem @returns {CellProblem[]} */
const cell = (row, column, problem) => problem ? [{ row, column, problem }] : []
