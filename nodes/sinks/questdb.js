import { defineSink } from './sink-node.js'
import { schema } from './questdb.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-questdb', schema, { sink: 'questdb' })
}
