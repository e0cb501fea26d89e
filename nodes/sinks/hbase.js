import { defineSink } from './sink-node.js'
import { schema } from './hbase.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-hbase', schema, { sink: 'hbase' })
}
