import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { defineNode, failClosing, logOf, throttledStatus } from '../node.js'
import { schema } from './embedded-broker.schema.js'

const GOODBYE_MS = 1000

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-embedded-broker', schema, async (node, options) => {
    const show = throttledStatus(node)
    const showStats = (/** @type {Awaited<ReturnType<typeof startEmbeddedBroker>>} */ broker) => {
      const { clients, droppedMessages } = broker.stats()
      const text = `${options.host}:${broker.port}, ${clients} ${clients === 1 ? 'client' : 'clients'}`
      show(droppedMessages > 0
        ? { fill: 'yellow', shape: 'dot', text: `${text}, ${droppedMessages} messages left to the spool` }
        : { fill: 'green', shape: 'dot', text })
    }
    const starting = startEmbeddedBroker(options, { log: logOf(node) })
    const stopShowing = everySecond(() => starting.then(showStats, () => {}))
    node.on('close', (/** @type {() => void} */ done) => {
      stopShowing()
      starting.then(closeLast, () => {}).catch(error => failClosing(RED, node, error)).finally(done)
    })
    showStats(await starting)
  })
}

/** When everything stops, its clients have a moment to disconnect. @param {Awaited<ReturnType<typeof startEmbeddedBroker>>} broker */
async function closeLast (broker) {
  for (let waitedMs = 0; broker.stats().clients > 0 && waitedMs < GOODBYE_MS; waitedMs += 20) await sleep(20)
  await broker.close()
}
