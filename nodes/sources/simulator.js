import { openSimulator } from '../../gateway/simulators/simulator.js'
import { schema } from './simulator.schema.js'
import { defineSource } from './source.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSource(RED, 'sluice-simulator', schema, openSimulator)
}
