import { defineSink } from './sink-node.js'
import { schema } from './warp10.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-warp10', schema, { sink: 'warp10' })
}
