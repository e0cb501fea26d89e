import { SluiceError, describe } from '../base/errors.js'

/**
 * The flows of a gateway that runs, by the API that its editor uses.
 *
 * @typedef {import('./parts.js').FlowNode} FlowNode
 * @typedef {import('../base/credentials.js').Credentials} Credentials
 */

const V2 = { 'Node-RED-API-Version': 'v2' }
const MISMATCH = 409
/** Of Node-RED, and in no list of node types. */
const BUILT_IN = /^(tab|group|junction|subflow(:.*)?|global-config)$/

export class RunningGateway {
  #url
  #headers

  /** @param {string} url @param {Record<string, string>} headers */
  constructor (url, headers) {
    this.#url = url
    this.#headers = headers
  }

  /**
   * @param {string} url  of the editor
   * @param {{user?: string, password?: string}} login
   */
  static async connect (url, { user, password }) {
    const base = url.endsWith('/') ? url : `${url}/`
    if (user === undefined) return new RunningGateway(base, {})
    const body = new URLSearchParams({
      client_id: 'node-red-editor', grant_type: 'password', scope: '*', username: user, password: password ?? ''
    })
    const response = await ask(`${base}auth/token`, { method: 'POST', body })
    const { access_token: token } = await response.json()
    return new RunningGateway(base, { authorization: `Bearer ${token}` })
  }

  /** @returns {Promise<{nodes: FlowNode[], revision: string}>} */
  async read () {
    const { flows: nodes, rev: revision } = await (await this.#ask('flows', { headers: V2 })).json()
    return { nodes, revision }
  }

  /** Types of nodes that it lacks: with one of them, no flow would start. @param {FlowNode[]} nodes @returns {Promise<string[]>} */
  async missingTypes (nodes) {
    const sets = await (await this.#ask('nodes', { headers: { accept: 'application/json' } })).json()
    const known = new Set(sets.flatMap((/** @type {{types: string[]}} */ { types }) => types))
    return [...new Set(nodes.map(({ type }) => type))].filter(type => !BUILT_IN.test(type) && !known.has(type))
  }

  /**
   * @param {FlowNode[]} nodes
   * @param {Credentials} values  of nodes for which some are given, all
   * @param {{revision: string, isFull: boolean}} options  `revision`: that it has; `isFull`: also what is the same starts anew
   * @throws {SluiceError} SLUICE_APPLY_CHANGED
   */
  async write (nodes, values, { revision, isFull }) {
    const flows = nodes.map(node => values[node.id] ? { ...node, credentials: values[node.id] } : node)
    const headers = { ...V2, 'content-type': 'application/json', 'Node-RED-Deployment-Type': isFull ? 'full' : 'nodes' }
    await this.#ask('flows', { method: 'POST', headers, body: JSON.stringify({ flows, rev: revision }) })
  }

  /** @param {string} path @param {{method?: string, headers?: Record<string, string>, body?: string}} options */
  #ask (path, { headers, ...options }) {
    return ask(this.#url + path, { ...options, headers: { ...this.#headers, ...headers } })
  }
}

/** @param {string} url @param {RequestInit} options */
async function ask (url, options) {
  const response = await fetch(url, options).catch(error => {
    throw new SluiceError('SLUICE_APPLY_GATEWAY', `The gateway at ${url} does not answer: ${describe(error.cause ?? error)}.`, {
      fix: 'Check --url, or stop the gateway and leave --url out.', cause: error
    })
  })
  if (response.ok) return response
  if (response.status === MISMATCH) {
    throw new SluiceError('SLUICE_APPLY_CHANGED', 'Somebody has deployed meanwhile. The flow was not changed.', { fix: 'Run it again.' })
  }
  const said = (await response.text()).slice(0, 200)
  throw new SluiceError('SLUICE_APPLY_GATEWAY', `The gateway answers with ${response.status}: ${said}`, {
    fix: 'It needs --user and --password-env of a user with the role change.'
  })
}
