import { defineSink } from './sink-node.js'
import { schema } from './clickhouse.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-clickhouse', schema, { sink: 'clickhouse' })
}
