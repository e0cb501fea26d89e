import { SECTIONS } from '../gateway/first-boot/schema.js'
import { isNumber } from '../resources/options.js'

/**
 * The template of `sluice.toml` that is on the card of an image, and the table of its keys: both say what the schema says.
 *
 * @typedef {import('../resources/options.js').Property} Property
 */

const WIDTH = 100
const HEAD = `# What this machine is to be. Take the # away from what you need, tables in [brackets] too, and start the machine.
# Any editor of plain text will do. What was applied, and what is wrong, is then in sluice-first-boot.txt beside this file.
# Without any change it works as it is: at https://sluice.local:1880/, with the password in sluice-password.txt.
`

export function template () {
  const tables = Object.entries(SECTIONS).map(([name, { description, properties, isList = false, required = [] }]) => [
    ...wrapped(`${description}.`),
    isList ? `#[[${name}]]` : `#[${name}]`,
    ...Object.entries(properties).flatMap(([key, property]) => [
      ...wrapped(`${property.description} ${facts(property, required.includes(key))}`),
      `#${key} = ${toml(valueOf(property))}`
    ])
  ].join('\n'))
  return `${HEAD}\n${tables.join('\n\n')}\n`
}

export function table () {
  const rows = Object.entries(SECTIONS).flatMap(([name, { description, properties, isList = false, required = [] }]) => [
    `| **\`${isList ? `[[${name}]]` : `[${name}]`}\`** | ${description} | |`,
    ...Object.entries(properties).map(([key, property]) => {
      return `| \`${key}\` | ${property.description} | ${facts(property, required.includes(key))} \`${toml(valueOf(property))}\` |`
    })
  ])
  return ['| Key | | |', '|---|---|---|', ...rows].join('\n')
}

/** What else there is to know in few words. @param {Property} property @param {boolean} isRequired */
function facts ({ default: usual, enum: choices, minimum, maximum, 'x-unit': unit }, isRequired) {
  const limits = minimum === undefined ? '' : `${minimum} to ${maximum}${unit ? ` ${unit}` : ''}`
  return [
    ...isRequired ? ['Needed.'] : [],
    ...choices ? [`One of ${choices.map(toml).join(', ')}.`] : [],
    ...limits ? [`${limits}.`] : [],
    usual === undefined ? 'For example:' : 'Default:'
  ].join(' ')
}

/** Its default, or else an example. @param {Property} property @returns {unknown} */
function valueOf ({ type, default: usual, examples: [example] = [], ...more }) {
  if (usual !== undefined) return usual
  if (type === 'array') return [example]
  return isNumber({ type, ...more }) ? Number(example) : example
}

/** JSON's texts, numbers and lists of them are TOML's as well. @param {unknown} value */
function toml (value) {
  return JSON.stringify(value)
}

/** @param {string} text */
function wrapped (text) {
  const lines = ['#']
  for (const word of text.split(' ')) {
    const longer = `${lines[lines.length - 1]} ${word}`
    if (longer.length > WIDTH) lines.push(`# ${word}`)
    else lines[lines.length - 1] = longer
  }
  return lines
}
