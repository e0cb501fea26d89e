import { tagFaults } from '../../resources/modbus-tags.js'
import { say } from '../../resources/sentences.js'
import { SluiceError } from '../base/errors.js'
import { parseAddress } from './addresses.js'
import { compileValue } from './values.js'

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
 * @typedef {import('../../resources/modbus-tags.js').Rules & {order?: import('./bytes.js').Order}} Rules  `order`: of tags that have none
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
    throw new SluiceError('SLUICE_OPTIONS', say('noTags'))
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
    const faults = Object.entries(tagFaults(entry, rules))
    for (const [column, problem] of faults) problems.push({ row, column, problem })
    if (faults.length === 0) tags.push(compile(entry, row, rules, codecs))
  }
  return { tags, problems }
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
