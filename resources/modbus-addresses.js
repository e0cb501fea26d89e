import { say } from './sentences.js'

/**
 * @typedef {'coils'|'discrete-inputs'|'holding-registers'|'input-registers'} Area
 * @typedef {'protocol'|'data-sheet'} Addressing
 */

export const ADDRESSES = 0x10000
const LAST = ADDRESSES - 1

/** The first digit of a data sheet's address names its area. @type {Record<string, Area>} */
const AREA_DIGITS = { 0: 'coils', 1: 'discrete-inputs', 3: 'input-registers', 4: 'holding-registers' }

/** @param {Area} area */
export function isBits (area) {
  return area === 'coils' || area === 'discrete-inputs'
}

/**
 * Reads an address as users write it; a bit of a register is `100.3`.
 * @param {string} text
 * @param {{area: Area, isBit?: boolean, addressing?: Addressing, areas?: Record<string, string>}} of  `areas`: what they are called
 * @returns {{address: number, bit?: number, problem?: undefined}|{problem: string}}
 */
export function parseAddress (text, { area, isBit = false, addressing = 'protocol', areas }) {
  const [, digits, bitDigits] = /^(\d{1,6})(?:\.(\d{1,2}))?$/.exec(text.trim()) ?? []
  if (digits === undefined) return { problem: isBit ? say('bitAddress') : say('wholeAddress') }
  if (!isBit && bitDigits !== undefined) return { problem: say('bitNamed') }
  if (isBit && bitDigits === undefined) return { problem: say('bitNotNamed') }
  if (Number(bitDigits ?? 0) > 15) return { problem: say('bitUnknown', { bit: bitDigits }) }
  const found = addressing === 'protocol' ? onWire(digits) : inDataSheet(digits, area, areas)
  return found.problem === undefined && isBit ? { ...found, bit: Number(bitDigits) } : found
}

/** @param {string} digits @returns {ReturnType<typeof parseAddress>} */
function onWire (digits) {
  const address = Number(digits)
  return address < ADDRESSES ? { address } : { problem: say('addressRange', { last: LAST }) }
}

/** @param {string} digits @param {Area} area @param {Record<string, string>} [areas] @returns {ReturnType<typeof parseAddress>} */
function inDataSheet (digits, area, areas = {}) {
  const named = AREA_DIGITS[digits[0]]
  const address = Number(digits.slice(1)) - 1
  const words = (/** @type {Area} */ each) => areas[each] ?? each.replace('-', ' ')
  if (digits.length < 5 || !named) return { problem: say('sheetDigits') }
  if (named !== area) return { problem: say('sheetArea', { given: digits, named: words(named), area: words(area) }) }
  if (address < 0 || address >= ADDRESSES) return { problem: say('sheetCount', { last: ADDRESSES }) }
  return { address }
}
