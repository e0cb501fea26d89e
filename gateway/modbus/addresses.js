/**
 * @typedef {import('./wire/pdu.js').Area} Area
 * @typedef {'protocol'|'data-sheet'} Addressing
 */

export const ADDRESSES = 0x10000

/** @type {Area[]} */
export const AREAS = ['holding-registers', 'input-registers', 'coils', 'discrete-inputs']

/** The first digit of a data sheet's address names its area. @type {Record<string, Area>} */
const AREA_DIGITS = { 0: 'coils', 1: 'discrete-inputs', 3: 'input-registers', 4: 'holding-registers' }

/** @type {import('../../resources/options.js').Property} */
export const addressingProperty = {
  type: 'string',
  title: 'Addresses',
  description: 'As on the wire: 0 to 65535 in each area. As in many data sheets: five or six digits, the first for the area (0 coils, ' +
    '1 discrete inputs, 3 input registers, 4 holding registers), the others counting from 1: 40001 and 400001 are both holding ' +
    'register 0 on the wire.',
  enum: ['protocol', 'data-sheet'],
  'x-labels': { protocol: 'As on the wire: from 0', 'data-sheet': 'As in data sheets: 40001, 300001' },
  default: 'protocol'
}

/**
 * Reads an address as users write it; a bit of a register is `100.3`.
 * @param {string} text
 * @param {{area: Area, isBit?: boolean, addressing?: Addressing}} of
 * @returns {{address: number, bit?: number, problem?: undefined}|{problem: string}}
 */
export function parseAddress (text, { area, isBit = false, addressing = 'protocol' }) {
  const [, digits, bitDigits] = /^(\d{1,6})(?:\.(\d{1,2}))?$/.exec(text.trim()) ?? []
  if (digits === undefined) return { problem: isBit ? 'must look like 100.3, for bit 3 of register 100' : 'must be a whole number' }
  if (!isBit && bitDigits !== undefined) return { problem: 'names a bit: only the type bit has one' }
  if (isBit && bitDigits === undefined) return { problem: 'must name a bit, such as 100.3' }
  if (Number(bitDigits ?? 0) > 15) return { problem: `names bit ${bitDigits}: a register has bits 0 to 15` }
  const found = addressing === 'protocol' ? onWire(digits) : inDataSheet(digits, area)
  return found.problem === undefined && isBit ? { ...found, bit: Number(bitDigits) } : found
}

/** @param {string} digits @returns {ReturnType<typeof parseAddress>} */
function onWire (digits) {
  const address = Number(digits)
  return address < ADDRESSES ? { address } : { problem: `must be 0 to ${ADDRESSES - 1}` }
}

/** @param {string} digits @param {Area} area @returns {ReturnType<typeof parseAddress>} */
function inDataSheet (digits, area) {
  const named = AREA_DIGITS[digits[0]]
  const address = Number(digits.slice(1)) - 1
  if (digits.length < 5 || !named) return { problem: 'must have five or six digits, the first of them 0, 1, 3 or 4, such as 40001' }
  if (named !== area) return { problem: `${digits} is one of the ${words(named)}, not of the ${words(area)}` }
  if (address < 0 || address >= ADDRESSES) return { problem: `must count from 1 to ${ADDRESSES} after its first digit` }
  return { address }
}

/** @param {Area} area */
function words (area) {
  return area.replace('-', ' ')
}
