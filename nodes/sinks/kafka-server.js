import { defineServer } from './server-node.js'
import { schema } from './kafka-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-kafka-server', schema, 'kafka')
}
