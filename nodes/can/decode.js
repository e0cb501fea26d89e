import { nowNs } from '../../gateway/clock/system-clock.js'
import { SluiceError } from '../../gateway/base/errors.js'
import { CanDecoder } from '../../gateway/can/decode.js'
import { quantity } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { defineNode, handlesInput, logOf, throttledStatus } from '../node.js'
import { located } from '../sources/located.js'
import { nameOf, nameSources, sourceNameOf } from '../names.js'
import { counted, sentence } from '../status.js'
import { schema } from './decode.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  nameSources('sluice-can-decode', schema)
  defineNode(RED, 'sluice-can-decode', schema, (node, options) => {
    const named = { ...options, name: sourceNameOf(RED, node, options), dbcFile: located(options.dbcFile) }
    const decoder = new CanDecoder(named, { log: logOf(node), nowNs })
    const show = throttledStatus(node)
    node.on('close', stats.gauge(`can decode ${nameOf(RED, node)}`, () => decoder.gauge()))

    handlesInput(node, (message, send) => {
      const { batches, refused } = decoder.decode(message.payload)
      for (const batch of batches) send({ ...message, topic: batch.source, payload: batch })
      show(statusOf(decoder.counters))
      if (refused.length === 0) return
      const others = refused.length > 1 ? ` So are ${refused.length - 1} others of this message.` : ''
      throw new SluiceError('SLUICE_CAN_FRAME', `A value is refused: ${refused[0].reason}.${others}`)
    })
    show(statusOf(decoder.counters))
  })
}

/** @param {CanDecoder['counters']} counters @returns {import('../node.js').Status} */
function statusOf ({ rows, refused, unknownIds, undecodable }) {
  const text = sentence(`${quantity(rows)} rows`, ...counted({ refused, unknown: unknownIds, undecodable }))
  return { fill: refused + undecodable > 0 ? 'yellow' : 'green', shape: 'dot', text }
}
