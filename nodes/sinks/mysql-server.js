import { defineServer } from './server-node.js'
import { schema } from './mysql-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-mysql-server', schema, 'mysql')
}
