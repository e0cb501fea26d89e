import { createDecipheriv, hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { SluiceError } from '../base/errors.js'

/**
 * The nodes of a flow, as Node-RED keeps them: their settings in one file, their passwords encrypted in another.
 *
 * @typedef {Record<string, any> & {id: string, type: string, name?: string}} Config  of a node
 * @typedef {{nodes: Config[], credentialsOf: (id: string) => Record<string, string>}} Flow
 */

const ALGORITHM = 'aes-256-ctr'
const VECTOR_DIGITS = 32

const VARIABLE = /^\$\{([a-zA-Z_][a-zA-Z0-9_]*)\}$/

/**
 * @param {string} userDir  of Node-RED
 * @param {string} [file]  instead of its own
 * @returns {Promise<Flow>}
 * @throws {SluiceError} SLUICE_FLOW_FILE, SLUICE_COPY_CREDENTIALS
 */
export async function readFlow (userDir, file = join(userDir, 'flows.json')) {
  const text = await readFile(file, 'utf8').catch(cause => {
    throw new SluiceError('SLUICE_FLOW_FILE', `The flow "${file}" cannot be read.`, {
      cause, fix: 'Check --user-dir, or name it with --flows.'
    })
  })
  const ending = extname(file)
  const secret = await readFile(`${file.slice(0, file.length - ending.length)}_cred${ending}`, 'utf8').catch(() => '{}')
  const credentials = await decrypted(userDir, JSON.parse(secret))
  const nodes = JSON.parse(text).map((/** @type {Config} */ node) => withVariables(node))
  return { nodes, credentialsOf: id => withVariables(credentials[id] ?? {}) }
}

/** @param {string} userDir @param {any} stored @returns {Promise<Record<string, any>>} */
async function decrypted (userDir, stored) {
  if (typeof stored.$ !== 'string') return stored
  for (const secret of await secretsIn(userDir)) {
    const key = hash('sha256', secret, 'buffer')
    const vector = Buffer.from(stored.$.slice(0, VECTOR_DIGITS), 'hex')
    const decipher = createDecipheriv(ALGORITHM, key, vector)
    try {
      return JSON.parse(decipher.update(stored.$.slice(VECTOR_DIGITS), 'base64', 'utf8') + decipher.final('utf8'))
    } catch {
      // another secret may be the right one
    }
  }
  throw new SluiceError('SLUICE_COPY_CREDENTIALS', 'The passwords of the flow cannot be read: what they are encrypted with is not known.', {
    fix: 'Put the credentialSecret of Node-RED\'s settings.js into SLUICE_CREDENTIAL_SECRET in the environment.'
  })
}

/** What they may be encrypted with: the gateway's own, what Node-RED has made up, or what its user has. @param {string} userDir */
async function secretsIn (userDir) {
  const own = await readFile(join(userDir, 'credential-secret'), 'utf8').catch(() => '')
  const config = await readFile(join(userDir, '.config.runtime.json'), 'utf8').then(JSON.parse, () => ({}))
  return [process.env.SLUICE_CREDENTIAL_SECRET, own, config._credentialSecret].filter(Boolean)
}

/** As Node-RED does. @template {Record<string, any>} T @param {T} settings @returns {T} */
function withVariables (settings) {
  const entries = Object.entries(settings).map(([name, value]) => {
    const [, variable] = (typeof value === 'string' && VARIABLE.exec(value)) || []
    return [name, variable === undefined ? value : process.env[variable] ?? '']
  })
  return /** @type {any} */ (Object.fromEntries(entries))
}
