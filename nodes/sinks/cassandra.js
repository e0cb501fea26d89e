import { defineSink } from './sink-node.js'
import { schema } from './cassandra.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-cassandra', schema, { sink: 'cassandra' })
}
