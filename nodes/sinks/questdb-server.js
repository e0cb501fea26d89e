import { defineServer } from './server-node.js'
import { schema } from './questdb-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-questdb-server', schema, 'questdb')
}
