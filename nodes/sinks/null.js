import { schema } from './null.schema.js'
import { defineSink } from './sink-node.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-null', schema, { sink: 'null' })
}
