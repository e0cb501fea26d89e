import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { readOptions } from '../../resources/options.js'
import { said } from '../stats/phrases.js'

/**
 * @typedef {import('../../resources/options.js').Schema} Schema
 * @typedef {{id: string, type: string, name?: string, z?: string, d?: boolean, disabled?: boolean, [option: string]: unknown}} Config  a
 *   node, as the flow file has it
 * @typedef {(type: string) => Promise<Schema|undefined>} SchemaOf  of the options of a node of ours
 * @typedef {(id: string) => Record<string, any>|undefined} CredentialsOf
 */

/** As Node-RED's runtime takes them, in nodes that it starts. */
const ENVIRONMENT_VARIABLE = /^\$\{(\S+)\}$/

/** The flow as it is on the disk: what is deployed. */
export class Flow {
  #schemaOf
  #credentialsOf
  #environment

  /**
   * @param {Config[]} nodes
   * @param {object} more
   * @param {SchemaOf} more.schemaOf
   * @param {CredentialsOf|null} more.credentialsOf  null where passwords cannot be read
   * @param {NodeJS.ProcessEnv} more.environment
   */
  constructor (nodes, { schemaOf, credentialsOf, environment }) {
    const tabs = new Map(nodes.map(node => [node.id, node]))
    this.all = nodes
    /** Those that run. */
    this.nodes = nodes.filter(({ d, z }) => d !== true && tabs.get(z ?? '')?.disabled !== true)
    this.hasPasswords = credentialsOf !== null
    this.#schemaOf = schemaOf
    this.#credentialsOf = credentialsOf ?? (() => undefined)
    this.#environment = environment
  }

  /** Those of a type that run, and of config nodes those that another node names. @param {string} type */
  ofType (type) {
    return this.nodes.filter(node => node.type === type && (node.z || this.usersOf(node.id).length > 0))
  }

  /** The nodes that name a config node. @param {string} id */
  usersOf (id) {
    return this.nodes.filter(node => node.id !== id && Object.values(node).includes(id))
  }

  /**
   * The options of a node as it gets them, passwords and variables of the environment filled in.
   * @param {Config} node
   * @returns {Promise<{options: Record<string, any>, problems: string[], unset: string[]}>} `unset`: variables that are not set here
   */
  async optionsOf (node) {
    const schema = await this.#schemaOf(node.type)
    if (!schema) return { options: {}, problems: [], unset: [] }
    /** @type {string[]} */
    const unset = []
    const given = Object.entries({ ...node, ...this.#credentialsOf(node.id) }).map(([name, value]) => {
      const variable = typeof value === 'string' && Object.hasOwn(schema.properties, name) && ENVIRONMENT_VARIABLE.exec(value)?.[1]
      if (!variable) return [name, value]
      if (this.#environment[variable] === undefined) unset.push(variable)
      return [name, this.#environment[variable] ?? value]
    })
    return { ...readOptions(schema, Object.fromEntries(given)), unset }
  }

  /**
   * What the flow refers to and does not have, and what no node can be.
   * @param {Config} node
   * @returns {Promise<import('../stats/phrases.js').Phrase[]>}
   */
  async missingIn (node) {
    const schema = await this.#schemaOf(node.type)
    return Object.entries(schema?.properties ?? {}).flatMap(([name, { title, 'x-node': type }]) => {
      const id = node[name]
      if (!type || !id || this.nodes.some(each => each.id === id && each.type === type)) return []
      return [said`${title}: the node it names is not in the flow, or disabled.`]
    })
  }
}

/** How a user knows a node. @param {Config} node */
export function nameOf ({ id, type, name }) {
  return `${type.replace(/^sluice-/, '').replaceAll('-', ' ')} ${name ? `"${name}"` : id}`
}

/** A Node-RED of one's own may name its flow after the machine. @param {string} userDir */
export function flowFileIn (userDir) {
  const own = join(userDir, 'flows.json')
  const named = join(userDir, `flows_${hostname()}.json`)
  return !existsSync(own) && existsSync(named) ? named : own
}

/**
 * @param {string} path
 * @returns {Promise<Config[]|null>} null where there is no such file
 */
export async function readFlow (path) {
  try {
    const flow = JSON.parse(await readFile(path, 'utf8'))
    const nodes = Array.isArray(flow) ? flow : flow.flows
    if (!nodes.every((/** @type {any} */ node) => typeof node?.type === 'string')) throw new Error('it has what is no node')
    return nodes
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
    throw error
  }
}
