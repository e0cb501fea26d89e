import { defineServer } from './server-node.js'
import { schema } from './clickhouse-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-clickhouse-server', schema, 'clickhouse')
}
