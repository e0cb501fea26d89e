import { defineSink } from './sink-node.js'
import { schema } from './postgresql.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-postgresql', schema, { sink: 'postgresql' })
}
