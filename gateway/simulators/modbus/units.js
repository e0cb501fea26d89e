import { SluiceError } from '../../base/errors.js'

const MAX_UNIT = 255

/** What a list of units looks like: "1, 3, 5-12". */
export const UNITS_PATTERN = '^\\s*\\d+(\\s*-\\s*\\d+)?(\\s*,\\s*\\d+(\\s*-\\s*\\d+)?)*\\s*$'

/**
 * The numbers in a list such as "1, 3, 5-12".
 * @param {string} text  like UNITS_PATTERN
 * @returns {Set<number>}
 * @throws {SluiceError} SLUICE_OPTIONS
 */
export function readUnits (text) {
  const ranges = text.split(',').map(range => range.split('-').map(Number))
  const units = new Set(/** @type {number[]} */ ([]))
  for (const [first, last = first] of ranges) {
    if (!(first <= last && last <= MAX_UNIT)) {
      throw new SluiceError('SLUICE_OPTIONS', `Units go from 0 to ${MAX_UNIT}, upwards; "${text}" does not.`)
    }
    for (let unit = first; unit <= last; unit++) units.add(unit)
  }
  return units
}
