import { readFileSync } from 'node:fs'
import { SluiceError } from '../base/errors.js'
import { slugOf } from './parts.js'

/**
 * What a flow needs and no export has: by node and option, the name of the variable that has it on the machine it is applied to. What is
 * a reference to the environment already, as Node-RED knows it, stays that: `${NAME}`.
 *
 * @typedef {import('./parts.js').FlowNode} FlowNode
 * @typedef {import('../base/credentials.js').Credentials} Credentials
 * @typedef {Record<string, Record<string, string>>} Secrets
 */

const REFERENCE = /^\$\{\S+\}$/
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/

/** @param {FlowNode[]} nodes @param {Credentials} credentials @returns {Secrets} */
export function secretsOf (nodes, credentials) {
  const taken = new Set()
  const entries = nodes.filter(({ id }) => credentials[id]).map(node => {
    const named = Object.entries(credentials[node.id]).filter(([, value]) => typeof value === 'string' && value !== '')
    return /** @type {const} */ ([node.id, Object.fromEntries(named.map(([option, value]) => {
      return [option, isReference(value) ? String(value) : variableFor(node, option, taken)]
    }))])
  })
  return Object.fromEntries(entries.filter(([, options]) => Object.keys(options).length > 0))
}

/** A file for the environment, in which only the values are missing. @param {FlowNode[]} nodes @param {Secrets} secrets */
export function exampleOf (nodes, secrets) {
  const names = new Map(nodes.map(({ id, type, name }) => [id, `${type}${name ? ` "${name}"` : ''} (${id})`]))
  const lines = Object.entries(secrets).flatMap(([id, options]) => Object.entries(options).map(([option, variable]) => {
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
  return mapSecrets(secrets, variable => {
    if (isReference(variable)) return variable
    const path = given[`${variable}_FILE`]
    return given[variable] || (path ? textOf(path).replace(/\r?\n$/, '') : undefined)
  })
}

/**
 * @param {FlowNode[]} nodes
 * @param {Secrets} secrets
 * @param {Credentials} known  given, or on the machine
 * @throws {SluiceError} SLUICE_APPLY_SECRETS
 */
export function checkSecrets (nodes, secrets, known) {
  const missing = Object.entries(secrets).flatMap(([id, options]) => Object.entries(options)
    .filter(([option]) => !known[id]?.[option])
    .map(([option, variable]) => `${variable} (${option} of ${nodes.find(node => node.id === id)?.name || id})`))
  if (missing.length === 0) return
  throw new SluiceError('SLUICE_APPLY_SECRETS', `There are no values for ${missing.join(', ')}. Nothing was changed.`, {
    fix: 'Set these variables, or NAME_FILE to a file with the value, or give --secrets FILE.'
  })
}

/** Whether it may be in a file that others wrote. @param {unknown} variable */
export function isVariable (variable) {
  return isReference(variable) || (typeof variable === 'string' && VARIABLE.test(variable))
}

/** @param {Secrets} secrets @param {(variable: string) => string|undefined} valueOf */
function mapSecrets (secrets, valueOf) {
  return Object.fromEntries(Object.entries(secrets).map(([id, options]) => {
    return [id, Object.fromEntries(Object.entries(options).flatMap(([option, variable]) => {
      const value = valueOf(variable)
      return value === undefined ? [] : [[option, value]]
    }))]
  }))
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
