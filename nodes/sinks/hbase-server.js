import { defineServer } from './server-node.js'
import { schema } from './hbase-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-hbase-server', schema, 'hbase')
}
