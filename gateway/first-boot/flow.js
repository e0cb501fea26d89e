import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { encryptCredentials, ownSecret, readCredentials } from '../base/credentials.js'
import { SluiceError } from '../base/errors.js'
import { PRIVATE_FILE } from '../base/files.js'
import { Files } from './host.js'

/**
 * The flow the gateway runs, and the broker it goes through. Both are somebody else's as soon as they are edited: they are changed only
 * when sluice.toml says something else than when they were changed last.
 *
 * @typedef {{url: string, user?: string, password?: string, ca?: string, verify?: boolean}} Broker
 * @typedef {{flow?: string, broker?: string, url?: string}} Applied  digests of what was applied last, and the broker's address
 * @typedef {Record<string, any> & {id: string, type: string}} FlowNode
 */

export const LOCAL_URL = 'mqtt://127.0.0.1:1883'
const FLOWS = 'flows.json'
const CREDENTIALS = 'flows_cred.json'
const INDENT = 4 // as Node-RED does
const OWN_FLOW = new URL('../../flows/mosquitto.json', import.meta.url)

/**
 * @param {string} userDir  on which no gateway runs
 * @param {{imported: string|null, broker: Broker|null}} wanted  the text of a flow; the broker that nodes are to have which have the one
 *   of before, or that of this machine
 * @param {Applied} applied
 * @returns {Promise<{applied: Applied, connected: string[]|null}>} the names of the broker nodes that were changed; null where the flow and
 *   its broker stay
 */
export async function setFlow (userDir, { imported, broker }, applied) {
  const files = new Files(userDir)
  const current = await files.readIfThere(FLOWS)
  const next = { ...applied }
  let text = current ?? await readFile(OWN_FLOW, 'utf8')
  let connected = null
  const isImported = imported !== null && digest(imported) !== applied.flow
  if (isImported) {
    next.flow = digest(imported)
    text = imported
  }
  if (broker && (text !== current || digest(JSON.stringify(broker)) !== applied.broker)) {
    const nodes = readFlow(text)
    const credentials = readCredentials(userDir, files.at(FLOWS))
    const toConnect = nodes.filter(node => node.type === 'sluice-broker' && [LOCAL_URL, undefined, '', applied.url].includes(node.url))
    for (const node of toConnect) {
      const { user = '', password = '', ...open } = broker
      Object.assign(node, open)
      credentials[node.id] = { ...credentials[node.id], user, password }
    }
    await files.write(CREDENTIALS, encryptCredentials(credentials, ownSecret(userDir)), PRIVATE_FILE)
    text = JSON.stringify(nodes, null, INDENT)
    Object.assign(next, { broker: digest(JSON.stringify(broker)), url: broker.url })
    connected = toConnect.map(({ name, id }) => name || id)
  }
  // Where a start was interrupted after this, the flow is the new one already, and that of before is kept.
  if (isImported && current !== null && current !== text) await files.write('flows.before-import.json', current, PRIVATE_FILE)
  await files.write(FLOWS, text, PRIVATE_FILE)
  return { applied: next, connected }
}

/** @param {string} text @returns {FlowNode[]} @throws {SluiceError} SLUICE_FLOW_FILE */
export function readFlow (text) {
  try {
    const nodes = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (nodes.every((/** @type {any} */ node) => typeof node.id === 'string' && typeof node.type === 'string')) return nodes
    throw new TypeError('a node of it has no id or type')
  } catch (cause) {
    throw new SluiceError('SLUICE_FLOW_FILE', 'The flow cannot be read.', {
      fix: 'Export it from an editor: menu, Export, all flows, Download.', cause
    })
  }
}

/** @param {string} text */
function digest (text) {
  return createHash('sha256').update(text).digest('hex')
}
