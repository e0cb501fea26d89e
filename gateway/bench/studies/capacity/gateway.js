import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../free-port.js'
import { latencyOf, watchStream } from '../../live-stream.js'
import { deploy, startGateway } from '../../pipeline.js'
import { watching } from '../resources.js'

/**
 * A gateway that simulates sensors, stages their samples and stores them: the whole way of a sample, in one process.
 *
 * @typedef {import('../../sinks/sink-bench.js').Running} Running
 * @typedef {import('./knee.js').Step} Step
 */

export const RATE_HZ = 10

export class RampGateway {
  #running
  #nodes
  #process
  #url

  /** @param {Running} running @param {object[]} nodes @param {Awaited<ReturnType<typeof startGateway>>} process */
  constructor (running, nodes, process) {
    this.#running = running
    this.#nodes = nodes
    this.#process = process
    this.#url = /** @type {RegExpExecArray} */ (/Editor +(http:\S+)/.exec(process.output))[1]
  }

  /** @param {string} folder  of its own @param {Running} running @returns {Promise<RampGateway>} */
  static async start (folder, running) {
    const port = await freePort()
    const { nodes, credentials } = sinkNodes(running.address)
    const all = [
      { id: 'embedded', type: 'sluice-embedded-broker', z: 'tab', port, wires: [] },
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
      { id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'out', broker: 'broker', wires: [] },
      { id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', broker: 'broker', wires: [['sink']] },
      ...nodes
    ]
    return new RampGateway(running, all, await startGateway(folder, all, credentials))
  }

  /** What it has not stored is gone. */
  async end () { await this.#process.kill() }

  /**
   * So many sensors, for some seconds.
   * @param {number} sensors @param {{seconds: number, warmUpSeconds: number, signal: AbortSignal}} options
   * @returns {Promise<Step>}
   */
  async measure (sensors, options) {
    try {
      return await this.#measure(sensors, options)
    } catch (error) {
      const { exitCode, signalCode } = this.#process.child
      if (exitCode === null && signalCode === null) throw error
      const ended = `the gateway ended with ${signalCode ?? exitCode}`
      return { sensors, p50Ms: NaN, p99Ms: NaN, wantedRows: 0, stagedRows: 0, waitingRows: [], measures: {}, ended }
    }
  }

  /** @param {number} sensors @param {{seconds: number, warmUpSeconds: number, signal: AbortSignal}} options */
  async #measure (sensors, { seconds, warmUpSeconds, signal }) {
    await deploy(this.#url, [...this.#nodes, simulator(sensors)], { isChange: true })
    await sleep(warmUpSeconds * 1000, undefined, { signal })
    const stream = await watchStream(this.#url)
    try {
      const clientPid = Number(this.#process.child.pid)
      const watched = await watching({ running: this.#running, clientPid }, () => sleep(seconds * 1000, undefined, { signal }))
      return stepOf(sensors, stream.reports, watched)
    } finally {
      stream.close()
    }
  }
}

/**
 * @param {number} sensors @param {import('../../../stats/reader.js').Report[]} reports
 * @param {{usage: import('../../../stats/monitor/summary.js').Summary}} watched
 * @returns {Step}
 */
function stepOf (sensors, reports, { usage: { processes: { client, server }, machine } }) {
  const rows = (/** @type {import('../../../stats/reader.js').Report} */ { meters }, /** @type {string} */ stage) =>
    meters.filter(each => each.stage === stage).reduce((sum, { totals }) => sum + totals.rows, 0)
  const [first, last] = [reports.at(0), reports.at(-1)]
  const passed = (/** @type {string} */ stage) => first && last ? rows(last, stage) - rows(first, stage) : 0
  const seconds = first && last ? (last.time - first.time) / 1000 : 0
  const { p50, p99 } = latencyOf(reports)
  return {
    sensors,
    p50Ms: p50,
    p99Ms: p99,
    wantedRows: Math.round(sensors * RATE_HZ * seconds),
    stagedRows: passed('stage'),
    waitingRows: reports.map(report => rows(report, 'stage') - rows(report, 'sink')),
    measures: {
      ...seconds > 0 && { valuesPerSecond: passed('sink') / seconds },
      ...client?.cpuPercent && { cpuPercent: client.cpuPercent.mean },
      ...client?.rssBytes && { rssBytes: client.rssBytes.max },
      ...server?.cpuPercent && { serverCpuPercent: server.cpuPercent.mean },
      ...machine.cpuPercent && { machineCpuPercent: machine.cpuPercent.mean }
    }
  }
}

/** @param {number} sensors */
function simulator (sensors) {
  return {
    id: 'sensors', type: 'sluice-simulator', z: 'tab', name: 'sensors', preset: 'scits', sensors, stepSeconds: 1 / RATE_HZ,
    tickMs: 1000 / RATE_HZ, autostart: true, wires: [['out']]
  }
}

/**
 * A sink as it is in a flow.
 * @param {import('../../sinks/open.js').SinkAddress} address
 * @returns {{nodes: object[], credentials: Record<string, object>}}
 */
function sinkNodes ({ type, options, login }) {
  const { user, password, ...place } = login ?? {}
  return {
    nodes: [
      ...login ? [{ id: 'server', type: `sluice-${type}-server`, ...place }] : [],
      { id: 'sink', type: `sluice-${type}`, z: 'tab', name: 'sink', ...login && { server: 'server' }, ...options, wires: [] }
    ],
    credentials: login ? { server: { user, password } } : {}
  }
}
