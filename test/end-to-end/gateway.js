import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocket } from 'ws'
import { isSound } from '../nodes/sound-status.js'

const PROGRAM = fileURLToPath(new URL('../../gateway/cli/sluice.js', import.meta.url))
const RUNNING = /Editor +(http:\S+)[^]*Ctrl-C stops it/
const PATIENCE_MS = 100_000

/**
 * @typedef {import('../../gateway/stats/reader.js').Report} Report
 * @typedef {{fill?: string, shape?: string, text?: string}} Status
 * @typedef {{id: string, type: string, [option: string]: unknown}} FlowNode
 */

/**
 * A node of a flow.
 * @param {string} id
 * @param {string} type  of the palette; Sluice's are those that begin with a dash
 * @param {object} [options]
 * @param {...(string|string[])} wires  where each output leads
 * @returns {FlowNode}
 */
export function node (id, type, options = {}, ...wires) {
  return { id, type: type.replace(/^-/, 'sluice-'), z: 'flow', x: 100, y: 100, ...options, wires: wires.map(ends => [ends].flat()) }
}

/** Every flow has these: what `feed` and `report` talk to. */
const EQUIPMENT = [
  { id: 'flow', type: 'tab', label: 'flow' },
  node('feed', 'inject', { props: [{ p: 'payload' }], repeat: '', once: false }, 'make'),
  node('report', 'http in', { url: '/report', method: 'get' }, 'stats'),
  node('stats', '-stats', { intervalMs: 3_600_000 }, 'answer'),
  node('answer', 'http response')
]

/**
 * The gateway as a user runs it, a process in a folder of its own, with flows deployed as the editor does.
 */
export class Gateway {
  /** What it has written to its standard error: Node-RED's warnings and errors among it. */
  log = ''
  /** What the editor shows under each node now, by the node's id. @type {Map<string, Status>} */
  statuses = new Map()
  /** @type {import('node:child_process').ChildProcess} */
  #child
  /** @type {Promise<unknown>} */
  #ended
  /** @type {WebSocket|undefined} */
  #comms
  #url = ''
  /** Of the flow that has started. */
  #revision = ''
  #stopping = false
  #program
  #command
  /** @type {Set<unknown>} the nodes whose statuses are held to what holds for all of them */
  #ours = new Set()

  /**
   * @param {string} folder
   * @param {NodeJS.ProcessEnv} environment
   * @param {string} program  Node
   * @param {string} [command]  of another version of Sluice
   */
  constructor (folder, environment, program, command = PROGRAM) {
    this.folder = folder
    this.#program = program
    this.#command = command
    this.userDir = join(folder, 'user')
    this.environment = environment
    this.#child = this.#spawn()
    process.on('exit', () => this.#child.kill('SIGKILL'))
    this.#ended = once(this.#child, 'exit')
  }

  /**
   * Started with nothing but an empty flow.
   * @param {NodeJS.ProcessEnv} [environment]  added to this process's own
   * @param {string} [program]  another version of Node
   */
  static async start (environment = {}, program = process.execPath) {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-flow-'))
    await writeFile(join(folder, 'flows.json'), JSON.stringify(EQUIPMENT.slice(0, 1)))
    const gateway = new Gateway(folder, environment, program)
    await gateway.#running()
    return gateway
  }

  /**
   * Started on a folder that another version may have left, with the flow that is there.
   * @param {string} folder
   * @param {string} [command]  of that version
   */
  static async startOn (folder, command) {
    const gateway = new Gateway(folder, {}, process.execPath, command)
    await gateway.#running()
    return gateway
  }

  get running () { return this.#child.exitCode === null && this.#child.signalCode === null }

  /** The status of a node in one line: "green dot: 12 rows/s". @param {string} id */
  status (id) {
    const { fill, shape, text } = this.statuses.get(id) ?? {}
    return `${fill} ${shape}: ${text}`
  }

  /**
   * @param {FlowNode[]} nodes  the whole flow; what is fed goes to the node or nodes named by `feeds`
   * @param {{type?: 'full'|'flows'|'nodes', feeds?: string[]}} [options]
   */
  async deploy (nodes, { type = 'full', feeds = [] } = {}) {
    const make = node('make', 'function', { func: 'return [eval(msg.payload)]', outputs: 1 }, feeds)
    const flows = [...EQUIPMENT, make, ...nodes]
    const ours = nodes.filter(each => each.type.startsWith('sluice-') && this.#command === PROGRAM)
    this.#ours = new Set(ours.map(({ id }) => id))
    const { rev } = await (await this.#post('flows', { flows }, { 'Node-RED-API-Version': 'v2', 'Node-RED-Deployment-Type': type })).json()
    await this.until(() => this.#revision === rev, () => 'the flow to start') // the answer comes earlier
  }

  /**
   * Sends messages into the flow, made by a function node there.
   * @param {() => object[]} makeMessages  sees nothing of what is around it
   */
  async feed (makeMessages) {
    await this.#post('inject/feed', { __user_inject_props__: [{ p: 'payload', v: `(${makeMessages})()`, vt: 'str' }] })
  }

  /** Presses the button of an inject node. @param {string} id */
  async press (id) {
    await this.#post(`inject/${id}`, {})
  }

  /** What a flow's *http in* answers. @param {string} path */
  async page (path) {
    const response = await this.#ask(path)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  /** @returns {Promise<Report>} */
  async report () {
    return (await this.#ask('report')).json()
  }

  /** What is wrong. @returns {Promise<{active: import('../../gateway/stats/alarm.js').Alarm[]}>} */
  async alarms () {
    return (await this.#ask('sluice/alarms')).json()
  }

  /** That it has been seen. @param {string} id  of an alarm */
  async acknowledge (id) {
    await this.#post(`sluice/alarms/${encodeURIComponent(id)}/acknowledge`, {})
  }

  /** A gauge of the report, empty while there is none. @param {string} name @returns {Promise<Record<string, any>>} */
  async gauge (name) {
    return (await this.report()).gauges[name] ?? {}
  }

  /** @param {import('../../gateway/stats/meter.js').Stage} stage @param {string} name */
  async meter (stage, name) {
    const { meters } = await this.report()
    return meters.find(meter => meter.stage === stage && meter.name === name)?.totals
  }

  /**
   * Waits for something to come true, and throws when it does not or when the gateway ends.
   * @param {() => unknown} isTrue  may be asynchronous
   * @param {() => unknown} [describe]  what it looks like instead
   */
  async until (isTrue, describe = () => isTrue) {
    const deadline = Date.now() + PATIENCE_MS
    while (!await isTrue()) {
      if (!this.running || Date.now() > deadline) {
        throw new Error(`${this.running ? 'Waited in vain for' : 'The gateway ended before'} ${await describe()}\n${this.log}`)
      }
      await sleep(50)
    }
  }

  /** Waits until the log has it. @param {string|RegExp} text */
  async says (text) {
    await this.until(() => this.log.search(text) >= 0, () => `the log to say ${text}`)
  }

  /** Ends it as Ctrl-C does, unless told otherwise. @param {NodeJS.Signals} [signal] @returns {Promise<unknown>} its exit code */
  async stop (signal = 'SIGTERM') {
    this.#stopping = true
    this.#comms?.terminate()
    if (this.running) this.#child.kill(signal)
    await this.#ended
    return this.#child.exitCode
  }

  /** Starts it again, with the flow deployed last. @param {NodeJS.Signals} [signal] */
  async restart (signal) {
    await this.stop(signal)
    this.#stopping = false
    this.#child = this.#spawn()
    this.#ended = once(this.#child, 'exit')
    await this.#running()
    if (this.#revision === '') return
    await this.until(async () => (await fetch(`${this.#url}report`)).ok, () => 'the flow to start') // the editor is there earlier
  }

  async remove () {
    await this.stop()
    await rm(this.folder, { recursive: true })
  }

  #spawn () {
    const args = [this.#command, 'start', '--flows', join(this.folder, 'flows.json'), '--user-dir', this.userDir, '--port', '0']
    return spawn(this.#program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...this.environment } })
  }

  async #running () {
    const { stdout, stderr } = /** @type {import('node:child_process').ChildProcessWithoutNullStreams} */ (this.#child)
    let said = ''
    stdout.setEncoding('utf8').on('data', text => { said += text })
    stderr.setEncoding('utf8').on('data', text => { this.log += text })
    await this.until(() => RUNNING.test(said), () => 'the gateway to run')
    this.#url = /** @type {RegExpExecArray} */ (RUNNING.exec(said))[1]
    await this.#follow()
  }

  /** Listens to what the editor listens to. */
  async #follow () {
    const comms = new WebSocket(`${this.#url.replace('http', 'ws')}comms`)
    comms.on('error', error => { if (!this.#stopping) this.log += `comms: ${error.message}\n` })
    comms.on('message', text => {
      for (const { topic, data } of [JSON.parse(String(text))].flat()) {
        if (topic?.startsWith('status/')) {
          const id = topic.slice('status/'.length)
          if (data.text && this.#ours.has(id)) isSound(data)
          this.statuses.set(id, data)
        }
        if (topic === 'notification/runtime-deploy') this.#revision = data.revision
      }
    })
    await once(comms, 'open')
    comms.send('{"subscribe":"status/#"}')
    this.#comms = comms
  }

  /** @param {string} path @param {object} body @param {Record<string, string>} [headers] */
  #post (path, body, headers) {
    return this.#ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) })
  }

  /** @param {string} path @param {RequestInit} [request] */
  async #ask (path, request) {
    const response = await fetch(this.#url + path, request)
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
}
