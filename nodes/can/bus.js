import { defineNode, logOf } from '../node.js'
import { located } from '../sources/located.js'
import { schema } from './bus.schema.js'
import { serveDbcChecks } from './dbc.js'
import { SharedBus } from './lease.js'

/** A config node with one bus, which all nodes that name it share. @param {import('../node.js').RED} RED */
export default function (RED) {
  serveDbcChecks(RED)
  defineNode(RED, 'sluice-can-bus', schema, (node, options) => {
    node.shared = new SharedBus({ ...options, logFile: located(options.logFile) }, logOf(node))
    node.on('close', (/** @type {(error?: unknown) => void} */ done) => {
      node.shared.close().then(() => done(), done)
    })
  })
}
