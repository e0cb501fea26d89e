import { nameFault } from '../messages/gatherer.js'
import { QUALITY_FIELD } from '../batch/quality.js'
import { SluiceError } from '../base/errors.js'
import { ADDRESSES, parseAddress } from './addresses.js'
import { compileValue, TEXT_TYPES } from './values.js'
import { isBits } from './wire/pdu.js'

/**
 * @typedef {import('./wire/pdu.js').Area} Area
 * @typedef {import('./values.js').Codec} Codec
 *
 * @typedef {object} TagAddress
 * @property {number} row  in the table, from 1
 * @property {string} name
 * @property {Area} area
 * @property {number} address  from 0
 * @property {string} unit
 * @property {string} group  '' for the first
 * @property {number|null} deadband
 * @property {number} heartbeatMs
 * @property {number|null} min
 * @property {number|null} max
 * @typedef {TagAddress & Codec} Tag
 *
 * @typedef {{row: number, column: string, problem: string}} Problem
 *
 * @typedef {object} Rules
 * @property {import('./addresses.js').Addressing} addressing
 * @property {import('./bytes.js').Order} [order]  of tags that have none
 * @property {{maxRegisters: number, maxBits: number}} [limits]  what one request may read
 * @property {string[]} [groups]  that exist
 * @property {boolean} [isWritten]
 */

const MAX_SHOWN_PROBLEMS = 5

/**
 * Compiles a tag table that has been read with its schema.
 * @param {any[]} entries
 * @param {Rules} rules
 * @returns {Tag[]}
 * @throws {SluiceError} SLUICE_OPTIONS; `details.problems` lists all of them
 */
export function compileTags (entries, rules) {
  const { tags, problems } = readTags(entries, rules)
  if (entries.length === 0) {
    throw new SluiceError('SLUICE_OPTIONS', 'There are no tags.', { fix: 'Add one to the table, or import a CSV file.' })
  }
  if (problems.length === 0) return tags
  const texts = problems.slice(0, MAX_SHOWN_PROBLEMS).map(({ row, column, problem }) => (
    `Tags, row ${row}: ${column[0].toUpperCase()}${column.slice(1)} ${problem}.`
  ))
  const rest = problems.length - texts.length
  throw new SluiceError('SLUICE_OPTIONS', texts.join(' ') + (rest > 0 ? ` And ${rest} more.` : ''), { details: { problems } })
}

/**
 * All problems of a table, and its valid tags.
 * @param {any[]} entries
 * @param {Rules} rules
 * @returns {{tags: Tag[], problems: Problem[]}}
 */
export function readTags (entries, rules) {
  /** @type {Problem[]} */
  const problems = []
  /** @type {Tag[]} */
  const tags = []
  /** @type {Map<string, Codec>} */
  const codecs = new Map()
  for (const [index, entry] of entries.entries()) {
    const row = index + 1
    const faults = Object.entries({ ...nameFaultOf(entry), ...settingFaultOf(entry, rules) })
    for (const [column, problem] of faults) problems.push({ row, column, problem })
    if (faults.length === 0) tags.push(compile(entry, row, rules, codecs))
  }
  return { tags, problems }
}

/** @param {any} entry @returns {Record<string, string>} */
function nameFaultOf ({ name }) {
  const fault = name === QUALITY_FIELD ? 'is the name of the column that says why values are missing' : nameFault(name)
  return fault ? { name: `"${name}" ${fault}` } : {}
}

/** The first fault, by its column. @param {any} entry @param {Rules} rules @returns {Record<string, string>} */
function settingFaultOf (entry, { addressing, limits, groups, isWritten = false }) {
  const { area, address, type, group = '' } = entry
  const bits = isBits(area)
  const parsed = parseAddress(address, { area, isBit: type === 'bit', addressing })
  if (isWritten && (area === 'discrete-inputs' || area === 'input-registers')) return { area: 'can only be read' }
  if (isWritten && type === 'bit') return { type: 'must not be bit: the other bits of the register would be written too' }
  if (bits && type !== 'bool') return { type: `${type} is for registers; here it must be bool` }
  if (!bits && type === 'bool') return { type: 'bool is for coils and discrete inputs; for a register, choose bit' }
  if (parsed.problem !== undefined) return { address: parsed.problem }
  if (entry.scale === 0) return { scale: 'must not be 0' }
  if (isWritten && entry.min !== null && entry.max !== null && entry.min > entry.max) return { min: 'must not be above max' }
  if (groups && group !== '' && !groups.includes(group)) {
    return { group: `must be one of ${groups.join(', ')}; "${group}" is not one of them` }
  }
  const { count } = compileValue(entry)
  const maxCount = limits && (bits ? limits.maxBits : limits.maxRegisters)
  if (parsed.address + count > ADDRESSES) return { address: `leaves no space for its ${count} registers` }
  if (maxCount && count > maxCount) {
    return { [TEXT_TYPES.includes(type) ? 'length' : 'type']: `needs ${count} registers, and the device returns ${maxCount} at a time` }
  }
  return {}
}

/**
 * Tags with the same settings share a codec: thousands of them then stay in the processor's cache.
 * @param {any} entry @param {number} row @param {Rules} rules @param {Map<string, Codec>} codecs
 * @returns {Tag}
 */
function compile (entry, row, { addressing, order = 'ABCD' }, codecs) {
  const { name, area, type, length, scale, offset, unit, group = '', deadband = null, heartbeatMs = 0, min = null, max = null } = entry
  const parsed = parseAddress(entry.address, { area, isBit: type === 'bit', addressing })
  const { address, bit } = /** @type {{address: number, bit?: number}} */ (parsed)
  const description = { type, order: entry.order || order, length, bit, scale, offset }
  const key = JSON.stringify(description)
  const codec = codecs.get(key) ?? compileValue(description)
  codecs.set(key, codec)
  return { row, name, area, address, unit, group, deadband, heartbeatMs, min, max, ...codec }
}
