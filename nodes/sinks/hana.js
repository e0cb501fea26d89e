import { defineSink } from './sink-node.js'
import { schema } from './hana.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-hana', schema, { sink: 'hana' })
}
