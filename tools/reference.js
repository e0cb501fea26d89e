import { tableItems } from '../resources/options.js'
import { faces } from './nodes.js'

/**
 * A page of the documentation for each node: its help, with a table of its options.
 *
 * @typedef {import('./nodes.js').NodeFace} NodeFace
 * @typedef {import('../resources/options.js').Schema} Schema
 * @typedef {import('../resources/options.js').Property} Property
 */

/** Where a node's page is, below `docs/`. @param {NodeFace} face */
export const pageOf = ({ type }) => `reference/${type.replace('sluice-', '')}.md`

/** @param {NodeFace} face @param {Schema} schema @param {string} help  the node's own text @param {string} notice */
export function reference ({ type, label, isConfig }, schema, help, notice) {
  const text = help
    .replace(/^###/gm, '##')
    .replace(/^: (\w+) \((.*?)\) : /gm, (_, name, types) => `- \`msg.${name}\` (${types}): `)
    .replace('<!-- options -->', () => optionTables(schema))
  const kind = isConfig ? 'A configuration node' : 'A node'
  return `<!-- ${notice} -->

# ${label}

${text.trim()}

${kind} of the type \`${type}\`, one of [all nodes](../nodes.md).
`
}

/**
 * The tables that are options themselves follow. Options in the same words, which the form shows one at a time, are one.
 * @param {Schema} schema
 * @returns {string}
 */
function optionTables ({ properties, required = [] }) {
  const rows = Object.entries(properties).map(([name, property]) => {
    const what = `**${cell(property.title)}** | ${about(property, properties)}`
    return `| ${what} | ${limits(property)} | ${standard(property, required.includes(name))} |`
  })
  const inner = Object.values(properties).flatMap(({ title, items }) =>
    items && 'properties' in items ? [`### ${title}: columns\n\n${optionTables(items)}`] : [])
  return [['| Option | | Values | Default |', '|---|---|---|---|', ...new Set(rows)].join('\n'), ...new Set(inner)].join('\n\n')
}

/** @param {Property} property @param {Record<string, Property>} properties  of the same schema */
function about ({ description = '', 'x-when': when = {} }, properties) {
  const conditions = Object.entries(when).map(([name, wanted]) => {
    const values = [wanted].flat().map(value => wordFor(properties[name], value)).join(', ')
    return `*${properties[name].title}*: ${values}`
  })
  return cell([description.replaceAll('*', '\\*'), ...conditions.length > 0 ? [`(Where ${conditions.join('; ')}.)`] : []].join(' '))
}

/** What it may be, with its unit. @param {Property} property */
function limits (property) {
  const { type, enum: values, 'x-unit': unit, 'x-node': node, 'x-secret': isSecret } = property
  if (node) return `a node *${faces.find(face => face.type === node)?.label ?? node}*`
  if (isSecret) return 'text, kept among the credentials'
  if (type === 'boolean') return 'on, off'
  if (values) return cell(values.map(value => wordFor(property, value)).join(', '))
  return [...tableItems(property) ? ['a table'] : [range(property)], ...unit ? [unit] : []].join(' ')
}

/** @param {Property} property */
function range ({ type, minimum, exclusiveMinimum, maximum, maxLength, maxItems, 'x-maxBytes': maxBytes }) {
  if (type === 'array') return maxItems === undefined ? 'a list' : `a list of at most ${grouped(maxItems)}`
  if (type === 'string') {
    if (maxBytes !== undefined) return `text of at most ${grouped(maxBytes)} bytes`
    return maxLength === undefined ? 'text' : `text of at most ${grouped(maxLength)} characters`
  }
  if (minimum !== undefined && maximum !== undefined) return `${grouped(minimum)} … ${grouped(maximum)}`
  return [
    ...minimum === undefined ? [] : [`at least ${grouped(minimum)}`],
    ...exclusiveMinimum === undefined ? [] : [`above ${grouped(exclusiveMinimum)}`],
    ...maximum === undefined ? [] : [`at most ${grouped(maximum)}`]
  ].join(', ') || 'number'
}

/** What an empty field means. @param {Property} property @param {boolean} isRequired */
function standard (property, isRequired) {
  const { type, default: value, 'x-labels': labels } = property
  if (type === 'boolean') return value ? 'on' : 'off'
  if (value === undefined && isRequired) return 'required'
  if (value === undefined || value === '') return labels?.[''] ?? ''
  if (typeof value === 'object') return ''
  return property.enum || typeof value === 'number' ? wordFor(property, value) : `\`${cell(String(value))}\``
}

/** As the form calls a value. @param {Property} property @param {unknown} value */
function wordFor ({ 'x-labels': labels, enum: values }, value) {
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  const label = labels?.[String(value)]
  if (label) return label
  if (value === '') return 'none'
  return typeof value === 'number' && !values ? grouped(value) : String(value)
}

/** @param {number} number */
function grouped (number) {
  return number.toLocaleString('en-US')
}

/** Within a table. @param {string} text */
function cell (text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}
