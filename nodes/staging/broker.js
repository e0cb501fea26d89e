import { defineNode } from '../node.js'
import { schema } from './broker.schema.js'

/** Holds the `options` of a connection for the nodes that refer to it; null where they are wrong. @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-broker', schema, (node, options) => {
    node.options = options
  })
}
