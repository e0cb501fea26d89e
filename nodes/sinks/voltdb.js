import { defineSink } from './sink-node.js'
import { schema } from './voltdb.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-voltdb', schema, { sink: 'voltdb' })
}
