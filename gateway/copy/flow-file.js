import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readCredentials } from '../base/credentials.js'
import { SluiceError } from '../base/errors.js'

/**
 * The nodes of a flow, as Node-RED keeps them: their settings in one file, their passwords encrypted in another.
 *
 * @typedef {Record<string, any> & {id: string, type: string, name?: string}} Config  of a node
 * @typedef {{nodes: Config[], credentialsOf: (id: string) => Record<string, string>}} Flow
 */

const VARIABLE = /^\$\{([a-zA-Z_][a-zA-Z0-9_]*)\}$/

/**
 * @param {string} userDir  of Node-RED
 * @param {string} [file]  instead of its own
 * @returns {Promise<Flow>}
 * @throws {SluiceError} SLUICE_FLOW_FILE, SLUICE_CREDENTIALS
 */
export async function readFlow (userDir, file = join(userDir, 'flows.json')) {
  const text = await readFile(file, 'utf8').catch(cause => {
    throw new SluiceError('SLUICE_FLOW_FILE', `The flow "${file}" cannot be read.`, {
      cause, fix: 'Check --user-dir, or name it with --flows.'
    })
  })
  const credentials = readCredentials(userDir, file)
  const nodes = JSON.parse(text).map((/** @type {Config} */ node) => withVariables(node))
  return { nodes, credentialsOf: id => withVariables(credentials[id] ?? {}) }
}

/** As Node-RED does. @template {Record<string, any>} T @param {T} settings @returns {T} */
function withVariables (settings) {
  const entries = Object.entries(settings).map(([name, value]) => {
    const [, variable] = (typeof value === 'string' && VARIABLE.exec(value)) || []
    return [name, variable === undefined ? value : process.env[variable] ?? '']
  })
  return /** @type {any} */ (Object.fromEntries(entries))
}
