import { ADDRESSES, isBits, parseAddress } from './modbus-addresses.js'
import { nameFault, QUALITY_FIELD } from './names.js'
import { say } from './sentences.js'

/**
 * What a row of a tag table may not be: the same for the gateway, which compiles it, and for the form, which marks it.
 *
 * @typedef {import('./modbus-addresses.js').Area} Area
 *
 * @typedef {object} Rules
 * @property {import('./modbus-addresses.js').Addressing} addressing
 * @property {{maxRegisters: number, maxBits: number}} [limits]  what one request may read
 * @property {string[]} [groups]  that exist
 * @property {boolean} [isWritten]
 * @property {Record<string, string>} [areas]  what they are called
 */

/** Registers that a value occupies, by its type. @type {Record<string, number>} */
export const WORDS = {
  int16: 1,
  uint16: 1,
  int32: 2,
  uint32: 2,
  int64: 4,
  uint64: 4,
  float32: 2,
  float64: 4,
  bcd16: 1,
  bcd32: 2,
  'uint64-string': 4
}

/** Registers of a text of so many bytes. @param {number} length */
export const wordsOfText = length => Math.ceil(length / 2)

/** What one request may write. */
const MAX_WRITTEN = { maxRegisters: 123, maxBits: 1968 }

/** What one request may write, and read back. @param {{maxRegisters: number, maxBits: number}} limits */
export function writeLimits ({ maxRegisters, maxBits }) {
  return { maxRegisters: Math.min(maxRegisters, MAX_WRITTEN.maxRegisters), maxBits: Math.min(maxBits, MAX_WRITTEN.maxBits) }
}

/** What is wrong with a tag, by column. @param {any} tag  as its schema reads it @param {Rules} rules @returns {Record<string, string>} */
export function tagFaults (tag, rules) {
  return { ...nameFaultOf(tag), ...settingFaultOf(tag, rules) }
}

/** @param {any} tag @returns {Record<string, string>} */
function nameFaultOf ({ name = '' }) {
  const fault = name === QUALITY_FIELD ? say('qualityName') : nameFault(name)
  return fault ? { name: `"${name}" ${fault}` } : {}
}

/** @param {any} tag @param {Rules} rules @returns {Record<string, string>} */
function settingFaultOf (tag, { addressing, limits, groups, isWritten = false, areas }) {
  const { area, address = '', type, group = '' } = tag
  const bits = isBits(area)
  const parsed = parseAddress(address, { area, isBit: type === 'bit', addressing, areas })
  const kind = kindFaultOf(tag, isWritten)
  if (parsed.problem !== undefined) return { ...kind, address: parsed.problem }
  if (kind) return kind
  if (tag.scale === 0) return { scale: say('zero') }
  if (isWritten && isAbove(tag.min, tag.max)) return { min: say('aboveHighest') }
  if (groups && group !== '' && !groups.includes(group)) {
    return { group: say('oneOf', { choices: groups.join(', '), given: `"${group}"` }) }
  }
  const isText = !(type in WORDS)
  const count = bits || type === 'bit' ? 1 : isText ? wordsOfText(tag.length) : WORDS[type]
  const maxCount = limits && (bits ? limits.maxBits : limits.maxRegisters)
  if (parsed.address + count > ADDRESSES) return { address: say('noSpace', { count }) }
  if (maxCount && count > maxCount) return { [isText ? 'length' : 'type']: say('tooManyWords', { count, limit: maxCount }) }
  return {}
}

/** Of area and type. @param {any} tag @param {boolean} isWritten @returns {Record<string, string>|undefined} */
function kindFaultOf ({ area, type }, isWritten) {
  const bits = isBits(area)
  if (isWritten && (area === 'discrete-inputs' || area === 'input-registers')) return { area: say('onlyRead') }
  if (isWritten && type === 'bit') return { type: say('bitWritten') }
  if (bits && type !== 'bool') return { type: say('registerType', { type }) }
  if (!bits && type === 'bool') return { type: say('bitType') }
}

/** @param {number|null} [min] @param {number|null} [max] */
function isAbove (min = null, max = null) {
  return min !== null && max !== null && min > max
}
