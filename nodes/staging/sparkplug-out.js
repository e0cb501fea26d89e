import { join } from 'node:path'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { toBatches } from '../../gateway/messages/payload.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { openEdge } from '../../gateway/sparkplug/edge-link.js'
import { quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { dataDir, defineNode, failClosing, handlesInput, logOf, throttledStatus } from '../node.js'
import { schema } from './sparkplug-out.schema.js'
import { refusal } from './stage-out.js'

/** Edge nodes that are open, by broker, group and node: two of one name would end each other's sessions. @type {Set<string>} */
const inUse = new Set()

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-sparkplug-out', schema, async (node, options) => {
    const show = throttledStatus(node)
    const opening = open(RED, node, options)
    let refusedValues = 0

    handlesInput(node, async message => {
      const { link } = await opening
      const { batches, refused } = toBatches(message, { source: options.source || undefined })
      for (const batch of batches) link.take(batch)
      refusedValues += refused.length
      if (refused.length > 0) throw refusal(refused)
    })

    const stopShowing = everySecond(() => opening.then(({ link }) => show(statusOf(link.state, refusedValues)), () => {}))
    node.on('close', async (/** @type {() => void} */ done) => {
      stopShowing()
      try {
        await (await opening).close()
      } catch (error) {
        failClosing(RED, node, error)
      }
      done()
    })
    await opening
  })
}

/** @param {import('../node.js').RED} RED @param {import('../node.js').Node} node @param {any} options */
async function open (RED, node, { broker, groupId, nodeId, deviceId, primaryHostId, heldValues }) {
  const brokerNode = RED.nodes.getNode(broker)
  if (!brokerNode?.options) {
    throw new SluiceError('SLUICE_BROKER_MISSING', 'The broker of this node is missing or not set up.', {
      fix: 'Choose a broker in its form, and deploy.'
    })
  }
  const gateway = await gatewayId(dataDir(RED))
  const name = `${groupId}/${nodeId || gateway}`
  const key = `${broker} ${name}`
  if (inUse.has(key)) {
    throw new SluiceError('SLUICE_SPARKPLUG_NAME', `Another node is already the edge node ${name} at this broker.`, {
      fix: 'Give it another group or edge node id.'
    })
  }
  inUse.add(key)
  try {
    const link = await openEdge({
      broker: brokerNode.options,
      clientId: `sluice-${gateway}-sparkplug-${node.id}`,
      groupId,
      nodeId: nodeId || gateway,
      deviceId: deviceId || undefined,
      primaryHostId: primaryHostId || undefined,
      maxHeldValues: heldValues,
      bdSeqFile: join(dataDir(RED), 'sparkplug', `${node.id}.bdseq`),
      log: logOf(node)
    })
    const dropGauge = stats.gauge(`sparkplug ${node.name || name}`, () => gaugeOf(link.state))
    const close = async () => {
      dropGauge()
      await link.close().finally(() => inUse.delete(key))
    }
    return { link, close }
  } catch (error) {
    inUse.delete(key)
    throw error
  }
}

/** @typedef {Awaited<ReturnType<typeof openEdge>>['state']} State */

/** @param {State} state */
function gaugeOf ({ problem, waitsForHost, ...numbers }) {
  return { ...numbers, problem: problem?.code ?? '', waitsForHost: waitsForHost ?? '' }
}

/** @param {State} state @param {number} refusedValues  by the node itself @returns {import('../node.js').Status} */
function statusOf ({ connected, problem, waitsForHost, devices, sent, historical, heldValues, droppedValues, refused }, refusedValues) {
  const losses = Object.entries({ held: heldValues, dropped: droppedValues, refused: refused + refusedValues })
    .filter(([, values]) => values > 0)
    .map(([what, values]) => `, ${quantity(values)} ${what}`)
    .join('')
  const text = `${devices} ${devices === 1 ? 'device' : 'devices'}, ${quantity(sent + historical)} sent${losses}`
  if (!connected) return { fill: 'yellow', shape: 'ring', text: `${problem?.code ?? 'connecting'}; ${text}` }
  if (waitsForHost) return { fill: 'yellow', shape: 'ring', text: `waiting for the host ${waitsForHost}; ${text}` }
  return { fill: droppedValues + refused + refusedValues > 0 ? 'yellow' : 'green', shape: 'dot', text }
}
