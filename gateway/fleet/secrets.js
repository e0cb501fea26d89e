import { readFileSync } from 'node:fs'
import { SluiceError } from '../base/errors.js'
import { withoutSecrets } from '../base/secrets.js'
import { canonical, slugOf } from './parts.js'

/**
 * What a flow needs and no export has: by node and option, the name of the variable that has it on the machine it is applied to. What is
 * a reference to the environment already, as Node-RED knows it, stays that: `${NAME}`.
 *
 * @typedef {import('./parts.js').FlowNode} FlowNode
 * @typedef {import('../base/credentials.js').Credentials} Credentials
 * @typedef {{[option: string]: string|boolean|Options}} Options  some nodes keep several under one: the variables of a global-config node
 * @typedef {Record<string, Options>} Secrets
 */

const REFERENCE = /^\$\{\S+\}$/
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/

/** @param {FlowNode[]} nodes @param {Credentials} credentials @returns {Secrets} */
export function secretsOf (nodes, credentials) {
  const taken = new Set()
  const entries = nodes.filter(({ id }) => credentials[id]).map(node => {
    const variables = mapTexts(credentials[node.id], (value, option) => isReference(value) ? value : variableFor(node, option, taken))
    return /** @type {const} */ ([node.id, variables])
  })
  return Object.fromEntries(entries.filter(([, variables]) => textsIn(variables).length > 0))
}

/**
 * Options that look as if they had a secret in them: only what a node has declared as its password is kept elsewhere.
 * @param {FlowNode[]} nodes
 * @returns {{node: FlowNode, option: string}[]}
 */
export function openSecrets (nodes) {
  return nodes.flatMap(node => Object.keys(node).flatMap(option => {
    const value = { [option]: node[option] }
    const isNone = node[option] === '' || isReference(node[option]) || option === 'credentials'
    return isNone || canonical(withoutSecrets(value)) === canonical(value) ? [] : { node, option }
  }))
}

/** A file for the environment, in which only the values are missing. @param {FlowNode[]} nodes @param {Secrets} secrets */
export function exampleOf (nodes, secrets) {
  const names = new Map(nodes.map(({ id, type, name }) => [id, `${type}${name ? ` "${name}"` : ''} (${id})`]))
  const lines = Object.entries(secrets).flatMap(([id, options]) => textsIn(options).map(([option, variable]) => {
    const isOfGateway = isReference(variable)
    return `# ${option} of ${names.get(id)}${isOfGateway ? ', read by the gateway itself when it runs' : ''}\n${
      isOfGateway ? `# ${variable.slice(2, -1)}=` : `${variable}=`}\n`
  }))
  const head = '# Fill in a copy, and give it to sluice apply --secrets; or set these variables, or NAME_FILE to a file with the value.\n'
  return head + lines.join('')
}

/**
 * The values that are given, for what is to be set.
 * @param {Secrets} secrets
 * @param {{file?: string, environment?: NodeJS.ProcessEnv}} from
 * @returns {Credentials}
 */
export function valuesFor (secrets, { file, environment = process.env }) {
  const given = { ...environment, ...file === undefined ? {} : linesOf(file) }
  const valueOf = (/** @type {string} */ variable) => {
    if (isReference(variable)) return variable
    const path = given[`${variable}_FILE`]
    return given[variable] || (path ? textOf(path).replace(/\r?\n$/, '') : '')
  }
  return Object.fromEntries(Object.entries(secrets).map(([id, options]) => [id, mapTexts(options, valueOf)]))
}

/**
 * @param {FlowNode[]} nodes
 * @param {Secrets} secrets
 * @param {Credentials} known  given, or on the machine
 * @throws {SluiceError} SLUICE_APPLY_SECRETS
 */
export function checkSecrets (nodes, secrets, known) {
  const missing = Object.entries(secrets).flatMap(([id, options]) => {
    const has = new Set(textsIn(known[id] ?? {}).map(([option]) => option))
    const name = nodes.find(node => node.id === id)?.name || id
    return textsIn(options).filter(([option]) => !has.has(option)).map(([option, variable]) => `${variable} (${option} of ${name})`)
  })
  if (missing.length === 0) return
  throw new SluiceError('SLUICE_APPLY_SECRETS', `There are no values for ${missing.join(', ')}. Nothing was changed.`, {
    fix: 'Set these variables, or NAME_FILE to a file with the value, or give --secrets FILE.'
  })
}

/** Whether it may be in a file that others wrote. @param {unknown} options */
export function areVariables (options) {
  return isObject(options) && textsIn(options).every(([, variable]) => isReference(variable) || VARIABLE.test(variable))
}

/**
 * Kept values, the newer ones in place of the former.
 * @template {Options} T
 * @param {T|undefined} kept
 * @param {T} given
 * @returns {T}
 */
export function withNewer (kept, given) {
  const newer = Object.entries(given).map(([option, value]) => {
    const former = kept?.[option]
    return [option, isObject(value) && isObject(former) ? withNewer(former, value) : value]
  })
  return { ...kept, ...Object.fromEntries(newer) }
}

/**
 * All of them that are not empty.
 * @param {Options} options
 * @param {string} [of]  in which they are
 * @returns {[option: string, text: string][]}
 */
function textsIn (options, of = '') {
  return Object.entries(options).flatMap(([option, value]) => {
    if (isObject(value)) return textsIn(value, `${of}${option}.`)
    return isText(value) ? [[of + option, String(value)]] : []
  })
}

/**
 * The same with other texts; those that are empty are left out.
 * @param {Options} options
 * @param {(text: string, option: string) => string} change
 * @returns {Options}
 */
function mapTexts (options, change) {
  return Object.fromEntries(Object.entries(options).flatMap(([option, value]) => {
    const mapped = isObject(value) ? mapTexts(value, change) : isText(value) ? change(String(value), option) : value
    return mapped === '' || mapped === null ? [] : [[option, mapped]]
  }))
}

/** @param {unknown} value @returns {value is Options} */
function isObject (value) {
  return typeof value === 'object' && value !== null
}

/** @param {unknown} value */
function isText (value) {
  return typeof value !== 'boolean' && value !== null && value !== ''
}

/** @param {unknown} value */
function isReference (value) {
  return typeof value === 'string' && REFERENCE.test(value)
}

/** @param {FlowNode} node @param {string} option @param {Set<string>} taken */
function variableFor ({ id, type, name }, option, taken) {
  const upper = (/** @type {string[]} */ ...parts) => ['sluice', ...parts, option].map(slugOf).join('_').replaceAll('-', '_').toUpperCase()
  const readable = upper(name?.trim() || type.replace(/^sluice-/, ''))
  const variable = taken.has(readable) ? upper(name ?? type, id) : readable
  taken.add(variable)
  return variable
}

/** NAME=value lines; what is in quotes is taken out of them. @param {string} file @returns {Record<string, string>} */
function linesOf (file) {
  const lines = textOf(file).split(/\r?\n/).filter(line => line.trim() !== '' && !line.trimStart().startsWith('#'))
  return Object.fromEntries(lines.map((line, i) => {
    const [, name, value] = /^\s*([A-Z_][A-Z0-9_]*)=(.*)$/.exec(line) ?? []
    if (name === undefined) {
      throw new SluiceError('SLUICE_APPLY_SECRETS', `Setting ${i + 1} of ${file} is none.`, { fix: 'Give a line NAME=value for each.' })
    }
    return [name, /^(["'])(.*)\1$/.exec(value)?.[2] ?? value]
  }))
}

/** @param {string} file */
function textOf (file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new SluiceError('SLUICE_APPLY_SECRETS', `${file} cannot be read.`, { fix: 'Check its path and its permissions.', cause })
  }
}
