import { defineSink } from './sink-node.js'
import { schema } from './mongodb.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-mongodb', schema, { sink: 'mongodb' })
}
