import { defineServer } from './server-node.js'
import { schema } from './influxdb-server.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineServer(RED, 'sluice-influxdb-server', schema, 'influxdb')
}
