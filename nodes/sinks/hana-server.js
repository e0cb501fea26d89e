import { defineServer } from './server-node.js'
import { schema } from './hana-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-hana-server', schema, 'hana')
}
