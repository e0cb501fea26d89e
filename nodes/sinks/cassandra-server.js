import { defineServer } from './server-node.js'
import { schema } from './cassandra-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-cassandra-server', schema, 'cassandra')
}
