import { serveTests } from '../connection-test.js'
import { defineNode, logOf } from '../node.js'
import { schema } from './device.schema.js'
import { SharedDevice } from './lease.js'
import { serveTries } from './try.js'

/** A config node for one device, shared by all nodes that name it. @param {import('../node.js').RED} RED */
export default function (RED) {
  serveTries(RED)
  serveTests(RED, 'sluice-modbus-device', schema, () => import('../../gateway/modbus/trial.js'))
  defineNode(RED, 'sluice-modbus-device', schema, (node, options) => {
    node.shared = new SharedDevice(options, { name: node.name, log: logOf(node) })
    node.on('close', (/** @type {(error?: unknown) => void} */ done) => {
      node.shared.close().then(() => done(), done)
    })
  })
}
