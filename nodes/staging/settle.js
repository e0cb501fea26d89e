import { SluiceError } from '../../gateway/base/errors.js'
import { deliveries } from '../../gateway/flow/deliveries.js'
import { partOf } from '../../gateway/flow/split-part.js'
import { quantity } from '../../gateway/stats/format.js'
import { defineNode, handlesInput, throttledStatus } from '../node.js'
import { schema } from './settle.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-settle', schema, node => {
    const show = throttledStatus(node)
    let dropped = 0
    handlesInput(node, message => {
      if (typeof message.delivery !== 'string') {
        throw new SluiceError('SLUICE_SETTLE', 'This message has no msg.delivery: there is nothing to settle.', {
          fix: 'Wire it behind a stage in, and let the nodes between keep msg.delivery.'
        })
      }
      deliveries.drop(message.delivery, partOf(message))
      show({ fill: 'grey', shape: 'dot', text: `${quantity(++dropped)} dropped on purpose` })
    })
  })
}
