import { defineServer } from './server-node.js'
import { schema } from './voltdb-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-voltdb-server', schema, 'voltdb')
}
