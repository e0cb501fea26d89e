import { defineSink } from './sink-node.js'
import { schema } from './influxdb.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSink(RED, 'sluice-influxdb', schema, { sink: 'influxdb' })
}
