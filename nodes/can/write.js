import { CanWriter } from '../../gateway/can/write.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { quantity } from '../../gateway/stats/format.js'
import { headlineOf } from '../../gateway/base/headlines.js'
import { stats } from '../../gateway/stats/stats.js'
import { defineNode, handlesInput, throttledStatus } from '../node.js'
import { nameOf } from '../names.js'
import { sentence } from '../status.js'
import { located } from '../sources/located.js'
import { leaseBus } from './lease.js'
import { schema } from './write.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-can-write', schema, async (node, options) => {
    const show = throttledStatus(node)
    const opening = open(RED, options)
    /** @type {(() => void)[]} */
    const ends = []
    node.on('close', (/** @type {() => void} */ done) => {
      opening.then(({ writer, release }) => {
        for (const end of ends) end()
        writer.close()
        release()
      }, () => {}).finally(done)
    })
    let problem = ''
    handlesInput(node, async message => {
      const { writer } = await opening
      try {
        await writer.write(message)
        problem = ''
      } catch (error) {
        problem = headlineOf(error)
        throw error
      } finally {
        show(statusOf(writer, problem))
      }
    })

    const { writer } = await opening
    ends.push(everySecond(() => show(statusOf(writer, problem))), stats.gauge(`can write ${nameOf(RED, node)}`, () => writer.gauge()))
    show(statusOf(writer, problem))
  })
}

/** @param {import('../node.js').RED} RED @param {any} options */
async function open (RED, options) {
  const { bus, release } = await leaseBus(RED, options.bus)
  try {
    return { writer: new CanWriter({ ...options, dbcFile: options.dbcFile && located(options.dbcFile) }, { bus }), release }
  } catch (error) {
    release()
    throw error
  }
}

/** @param {CanWriter} writer @param {string} problem  of the last message @returns {import('../node.js').Status} */
function statusOf (writer, problem) {
  const trouble = writer.trouble()
  const text = problem || trouble
  if (text) return { fill: 'red', shape: 'ring', text: sentence(text), problem: trouble }
  return { fill: 'green', shape: 'dot', text: `${quantity(writer.counters.sent)} frames sent` }
}
