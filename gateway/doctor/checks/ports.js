import { Socket } from 'node:net'
import { nameOf } from '../flow.js'
import { note, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/**
 * @typedef {import('../finding.js').Finding} Finding
 * @typedef {import('../subject.js').Subject} Subject
 * @typedef {{where: string, host: string, port: number}} Listener  a node that listens
 */

const PATIENCE_MS = 2000
/** Below it a port takes rights that a gateway should not have. */
const FIRST_FREE_PORT = 1024

/** Asks each port, and never listens on one: a gateway may be about to. @type {import('../finding.js').Check} */
export const ports = {
  name: 'ports',
  title: 'Ports',
  async find (subject) {
    const listeners = await listenersOf(subject)
    const found = await Promise.all(listeners.map(each => findingOf(subject, each)))
    const editor = subject.isHere ? [] : [await editorFinding(subject)]
    return [...editor, ...shared(listeners), ...found]
  }
}

/** The gateway itself is asked for its health: on its port another program may answer. @param {Subject} subject */
async function editorFinding ({ port, state }) {
  const where = said`port ${port}`
  if (!await isOpen('127.0.0.1', port)) {
    return state === 'running'
      ? warning(said`The gateway runs, but does not answer here.`, where, said`Name its port with --port, or wait until it has begun.`)
      : ok(said`The port of the editor is free.`, where)
  }
  if (await isSluice(port)) return ok(said`The gateway answers there.`, where)
  return state === 'stopped'
    ? problem(said`Another program listens on the port of the editor.`, where,
        said`${seeWhich(port)} End it, or start the gateway with --port.`)
    : note(said`Something answers there that has no live page: Node-RED without the node stats, or another program.`, where)
}

/** @param {number} port */
const seeWhich = port => said`See which: sudo ss -ltnp 'sport = :${port}'.`

/** @param {number} port */
async function isSluice (port) {
  for (const protocol of ['http', 'https']) {
    try {
      const answer = await fetch(`${protocol}://127.0.0.1:${port}/sluice/health`, { signal: AbortSignal.timeout(PATIENCE_MS) })
      return ['starting', 'running', 'stopping'].includes(/** @type {any} */ (await answer.json()).status)
    } catch (error) {
      const { code = '' } = /** @type {{code?: string}} */ (/** @type {Error} */ (error).cause ?? {})
      if (/SELF_SIGNED|UNABLE_TO|CERT/.test(code)) return true // of an own certificate, as the gateway makes itself
    }
  }
  return false
}

/** @param {Subject} subject @returns {Promise<Listener[]>} */
async function listenersOf (subject) {
  const flow = await subject.flow
  if (!flow) return []
  const listeners = []
  for (const type of ['sluice-modbus-simulator', 'sluice-embedded-broker']) {
    for (const node of flow.ofType(type)) {
      const { options, problems } = await flow.optionsOf(node)
      if (problems.length > 0 || options.connection === 'rtu' || options.port === 0) continue
      listeners.push({ where: nameOf(node), host: String(options.host), port: Number(options.port) })
    }
  }
  return listeners
}

/** @param {Subject} subject @param {Listener} listener @returns {Promise<Finding>} */
async function findingOf ({ state, user }, { where, host, port }) {
  const answers = await isOpen(/^(0\.0\.0\.0|::)$/.test(host) ? '127.0.0.1' : host, port)
  if (state === 'running') {
    return answers
      ? ok(said`It listens on port ${port}.`, where)
      : problem(said`It does not listen on port ${port}.`, where, said`Its status in the editor, and the log, say why.`)
  }
  if (answers) {
    return state === 'unknown'
      ? note(said`Something listens on its port ${port}: the gateway, if it runs.`, where)
      : problem(said`Another program listens on its port ${port}.`, where,
          said`${seeWhich(port)} End it, or choose another port in the node.`)
  }
  if (port < FIRST_FREE_PORT && user.uid !== 0) {
    return warning(said`Port ${port} takes rights that ${user.name} may not have.`, where, said`Choose one from 1024 up, or allow it:
      AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit.`)
  }
  return ok(said`Port ${port} is free.`, where)
}

/** @param {Listener[]} listeners @returns {Finding[]} */
function shared (listeners) {
  return [...Map.groupBy(listeners, ({ port }) => port)].filter(([, its]) => its.length > 1).map(([port, its]) =>
    problem(said`Several nodes are to listen on port ${port}.`, its.map(({ where }) => where).join(', '),
      said`Give each its own, and deploy.`))
}

/** @param {string} host @param {number} port @returns {Promise<boolean>} */
function isOpen (host, port) {
  return new Promise(resolve => {
    const socket = new Socket()
    const settle = (/** @type {boolean} */ answers) => {
      socket.destroy()
      resolve(answers)
    }
    socket.setTimeout(PATIENCE_MS, () => settle(false))
    socket.on('connect', () => settle(true)).on('error', () => settle(false))
    socket.connect(port, host)
  })
}
