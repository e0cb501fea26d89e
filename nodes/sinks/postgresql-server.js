import { defineServer } from './server-node.js'
import { schema } from './postgresql-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-postgresql-server', schema, 'postgresql')
}
