import { defineServer } from './server-node.js'
import { schema } from './warp10-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-warp10-server', schema, 'warp10')
}
