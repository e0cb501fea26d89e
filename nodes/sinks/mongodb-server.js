import { defineServer } from './server-node.js'
import { schema } from './mongodb-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-mongodb-server', schema, 'mongodb')
}
