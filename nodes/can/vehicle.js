import { openVehicle } from '../../gateway/simulators/vehicle/vehicle.js'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { defineNode, logOf, throttledStatus } from '../node.js'
import { located } from '../sources/located.js'
import { nameOf } from '../names.js'
import { counted, sentence } from '../status.js'
import { leaseBus } from './lease.js'
import { schema } from './vehicle.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-vehicle', schema, async (node, options) => {
    const show = throttledStatus(node)
    const opening = open(RED, options, node)
    /** @type {(() => void)[]} */
    const ends = []
    node.on('close', (/** @type {() => void} */ done) => {
      opening.then(({ vehicle, release }) => {
        for (const end of ends) end()
        return vehicle.close().finally(release)
      }, () => {}).finally(done)
    })
    const { vehicle } = await opening
    const statusNow = statusOf(vehicle)
    ends.push(everySecond(() => show(statusNow())), stats.gauge(`vehicle ${nameOf(RED, node)}`, () => ({ ...vehicle.counters })))
  })
}

/** @param {import('../node.js').RED} RED @param {any} options @param {import('../node.js').Node} node */
async function open (RED, options, node) {
  const { bus, release } = await leaseBus(RED, options.bus)
  try {
    return { vehicle: openVehicle({ ...options, dbcFile: located(options.dbcFile) }, { bus, log: logOf(node) }), release }
  } catch (error) {
    release()
    throw error
  }
}

/** "413 frames/s, 2 missed, 3 late" @param {ReturnType<typeof openVehicle>} vehicle @returns {() => import('../node.js').Status} */
function statusOf (vehicle) {
  let last = { frames: vehicle.counters.frames, atMs: performance.now() }
  return () => {
    const { frames, errors, late, missed } = vehicle.counters
    const now = { frames, atMs: performance.now() }
    const perSecond = (now.frames - last.frames) / Math.max(1, now.atMs - last.atMs) * 1000
    last = now
    const trouble = vehicle.trouble()
    if (trouble) return { fill: 'red', shape: 'ring', text: sentence(trouble), problem: trouble }
    const rate = `${quantity(Math.round(perSecond))} frames/s`
    const fill = missed + errors > 0 ? 'yellow' : 'green'
    return { fill, shape: 'dot', text: sentence(rate, ...counted({ missed, refused: errors, late })) }
  }
}
