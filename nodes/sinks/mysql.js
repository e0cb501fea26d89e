import { defineSink } from './sink-node.js'
import { schema } from './mysql.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-mysql', schema, { sink: 'mysql' })
}
