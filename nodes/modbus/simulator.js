import { openModbusSimulator } from '../../gateway/simulators/modbus/simulator.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { defineNode, failClosing, handlesInput, logOf, throttledStatus } from '../node.js'
import { schema } from './simulator.schema.js'

/** @typedef {import('../../gateway/simulators/modbus/simulator.js').ModbusSimulator} ModbusSimulator */

const MAX_SHOWN_FAULTS = 2

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-modbus-simulator', schema, async (node, options) => {
    const opening = openModbusSimulator(options, {
      log: logOf(node),
      onWrite: ({ area, ...write }) => node.send({ topic: area, payload: write })
    })
    handlesInput(node, async ({ payload }) => (await opening).setFault(payload))

    /** @type {(() => void)[]} */
    const ends = []
    node.on('close', (/** @type {() => void} */ done) => {
      for (const end of ends) end()
      opening.then(simulator => simulator.close(), () => {}).catch(error => failClosing(RED, node, error)).finally(done)
    })
    const simulator = await opening
    const statusNow = statusOf(simulator, options)
    const show = throttledStatus(node)
    show(statusNow())
    ends.push(everySecond(() => show(statusNow())))
    ends.push(stats.gauge(`modbus simulator ${node.name || simulator.address}`, () => gaugeOf(simulator)))
  })
}

/**
 * "127.0.0.1:1502, 2 masters, 120 requests/s, silence of 3 for 8 s"
 * @param {ModbusSimulator} simulator
 * @param {{connection: string}} options
 * @returns {() => import('../node.js').Status}
 */
function statusOf (simulator, { connection }) {
  let last = { requests: 0, atMs: performance.now() }
  return () => {
    const { address, masters, faults, counters: { requests } } = simulator
    const now = { requests, atMs: performance.now() }
    const perSecond = (now.requests - last.requests) / Math.max(1, now.atMs - last.atMs) * 1000
    last = now
    const connected = connection === 'rtu' ? [] : [`${masters} ${masters === 1 ? 'master' : 'masters'}`]
    const shown = faults.slice(0, MAX_SHOWN_FAULTS)
    const more = faults.length > MAX_SHOWN_FAULTS ? [`${faults.length - MAX_SHOWN_FAULTS} more`] : []
    const text = [address, ...connected, `${quantity(Math.round(perSecond))} requests/s`, ...shown, ...more].join(', ')
    return faults.length > 0 ? { fill: 'yellow', shape: 'ring', text } : { fill: 'green', shape: 'dot', text }
  }
}

/** @param {ModbusSimulator} simulator @returns {import('../../gateway/stats/reader.js').Gauge} */
function gaugeOf ({ masters, counters: { functions, faults, ...others } }) {
  const happened = Object.entries(faults).filter(([, times]) => times > 0)
  return {
    masters,
    ...others,
    ...Object.fromEntries(Object.entries(functions).map(([code, requests]) => [`function ${code}`, requests])),
    ...Object.fromEntries(happened)
  }
}
