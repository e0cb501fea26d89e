import { faultProblem, registerProblems } from './modbus-registers.js'
import { tagFaults, writeLimits } from './modbus-tags.js'
import { nameFault } from './names.js'
import { say } from './sentences.js'
import { unitsProblem } from './units.js'
import { keyProblem } from './upserts.js'
import { portProblem } from './urls.js'

/**
 * What options may not be beyond what their schemas say, mostly because of each other: the same in the editor's forms and in the gateway.
 * A property names its check in `x-check`.
 *
 * @typedef {import('./options.js').Property} Property
 * @typedef {import('./options.js').Schema} Schema
 * @typedef {{row?: number, column?: string, problem: string}} Problem  a sentence; `row`: the index of one of a table
 * @typedef {(value: any, options: Record<string, any>, property: Property) => (Problem|string|undefined)[]} Check  `value` fits the schema,
 *   but cells of a table may be missing; `options`: the others of the node, in a form with the config nodes that they refer to
 */

/** Of one poll group. */
const MAX_COLUMNS = 999

/** @type {Record<string, Check>} */
const checks = {
  'field-names': (rows, _, property) => rows.flatMap((/** @type {{name?: string}} */ { name = '' }, /** @type {number} */ row) => {
    const fault = nameFault(name)
    return fault ? [cell(property, row, 'name', `"${shortened(name)}" ${fault}`)] : []
  }),

  'modbus-tags': (rows, options, property) => [
    ...rows.length === 0 ? [say('noTags')] : [],
    ...tagProblems(rows, property, { ...tagRules(options), groups: groupsOf(options) }),
    ...crowded(rows, groupsOf(options))
  ],

  'modbus-writable-tags': (rows, options, property) => {
    const { limits, ...rules } = tagRules(options)
    return [
      ...rows.length === 0 ? [say('noTags')] : [],
      ...tagProblems(rows, property, { ...rules, limits: limits && writeLimits(limits), isWritten: true })
    ]
  },

  'modbus-unit': (unit, { connection }, { title }) => [connection !== 'tcp' && unit === 0 ? say('broadcast', { title }) : undefined],

  'modbus-units': (units, _, { title }) => [unitsProblem(title, units)],

  'modbus-registers': (rows, _, property) => registerProblems(rows, columnOf(property, 'unit').title),

  'modbus-faults': (rows, { connection }, property) => rows.flatMap((/** @type {any} */ fault, /** @type {number} */ row) => {
    const found = faultProblem(fault, connection, columnOf(property, 'unit').title)
    return found ? [{ row, ...found }] : []
  }),

  'not-above-highest': (lowest, { highest }) => [lowest > highest ? say('exchanged', { lowest, highest }) : undefined],

  'broker-address': (url, _, { title, default: usual }) => [
    portProblem(title, url) ?? (URL.canParse(url) ? undefined : say('pattern', { title, example: String(usual), given: `"${url}"` }))
  ],

  'mongodb-url': (url, _, { title }) => [url.includes('@') ? say('loginInUrl', { title }) : portProblem(title, url)],

  'upsert-key': key => [keyProblem(key)],

  'no-upsert': (isHypertable, { layout }) => [isHypertable && layout === 'upsert' ? say('hypertable') : undefined],

  'udp-version': (protocol, { server }) => [
    protocol === 'udp' && typeof server === 'object' && server && server.version !== '1' ? say('udpVersion') : undefined
  ],

  'member-group': (group, { member, members }) => [members > 1 && !group ? say('noGroup', { member, members }) : undefined],

  member: (member, { members }) => [member > members ? say('noMember', { member, members }) : undefined],

  'time-zone': (zone, _, { title }) => [isTimeZone(zone) ? undefined : say('timeZone', { title, given: `"${zone}"` })]
}

/**
 * @param {Property} property
 * @param {any} value  as its schema reads it
 * @param {Record<string, any>} options  with the others
 * @returns {Problem[]} all that its check finds
 */
export function checked (property, value, options) {
  const check = checks[property['x-check'] ?? '']
  if (!check || value === undefined) return []
  const found = check(value, options, property).filter(each => each !== undefined)
  return found.map(each => typeof each === 'string' ? { problem: each } : each)
}

/** @param {any[]} rows @param {Property} property @param {import('./modbus-tags.js').Rules} rules @returns {Problem[]} */
function tagProblems (rows, property, rules) {
  const areas = columnOf(property, 'area')['x-labels']
  return rows.flatMap((tag, row) => Object.entries(tagFaults(tag, { ...rules, areas })).map(([column, fault]) =>
    cell(property, row, column, fault)))
}

/** @param {Property} property @param {number} row @param {string} column @param {string} fault @returns {Problem} */
function cell (property, row, column, fault) {
  return { row, column, problem: say('cell', { title: columnOf(property, column).title, fault }) }
}

/** @param {string} text */
const shortened = text => text.length > 40 ? `${text.slice(0, 39)}…` : text

/** @param {Record<string, any>} options @returns {import('./modbus-tags.js').Rules} */
function tagRules ({ addressing, device }) {
  return { addressing, ...typeof device === 'object' && device !== null && { limits: limitsOf(device) } }
}

/** Of a device as the editor has it. @param {Record<string, unknown>} device */
function limitsOf ({ maxRegisters, maxBits }) {
  return { maxRegisters: Number(maxRegisters) || 125, maxBits: Number(maxBits) || 2000 }
}

/** @param {Record<string, any>} options @returns {string[]} */
function groupsOf ({ groups = [] }) {
  return groups.map((/** @type {{name?: string}} */ { name }) => name ?? '')
}

/** Where a poll group gets more columns than a row can have. @param {any[]} tags @param {string[]} groups @returns {Problem[]} */
function crowded (tags, groups) {
  const numbered = tags.map(({ group }, row) => ({ group: group || groups[0], row }))
  return [...Map.groupBy(numbered, ({ group }) => group).values()].filter(({ length }) => length > MAX_COLUMNS).map(its => ({
    row: its[MAX_COLUMNS].row,
    column: 'group',
    problem: say('crowded', { group: its[0].group, count: its.length, limit: MAX_COLUMNS })
  }))
}

/** @param {string} zone */
function isTimeZone (zone) {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }))
  } catch {
    return false
  }
}

/** @param {Property} table @param {string} column */
function columnOf ({ items }, column) {
  return /** @type {Schema} */ (items).properties[column]
}
