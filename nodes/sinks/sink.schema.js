import { UPSERT_LABEL } from '../../gateway/databases/upsert/layout.js'

/** A sink's name is more than a label. */
export const sinkName = {
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'What the flow, the dead letters and the live page call this sink. Behind a stage in with a group it is also how ' +
        'spools know it: there, a new name is a new sink. Empty: the id of the node.',
      maxLength: 255, // spools hear of 256 characters
      default: ''
    }
  }
}

/**
 * The server that a sink or query uses.
 * @param {string} type  of its config node
 */
export function serverOption (type) {
  return {
    required: ['server'],
    properties: {
      server: {
        type: 'string',
        title: 'Server',
        description: 'The database server, its login and its connections: shared by all nodes that name it.',
        default: '',
        'x-node': type
      }
    }
  }
}

/**
 * For a database that wants few large writes: each small one leaves it something to merge, or a piece of a file.
 * @param {{properties: {maxAgeMs: object}}} writer
 */
export function seldom ({ properties: { maxAgeMs } }) {
  return { properties: { maxAgeMs: { ...maxAgeMs, default: 1000 } } }
}

/** What the forms call the layouts of rows. */
const LAYOUTS = {
  wide: 'wide: a row per time',
  narrow: 'narrow: a row per value',
  document: 'document: a row per interval',
  'paper-individual': 'paper-individual: a row per value',
  'paper-bulk': 'paper-bulk: a row per second',
  ...UPSERT_LABEL
}

/**
 * A sink's or reader's layout, each choice with what it makes of a sample.
 * @template {{enum: readonly string[]}} Layout
 * @param {{properties: {layout: Layout}}} schema
 */
export function layoutOption ({ properties: { layout } }) {
  return { properties: { layout: { 'x-labels': LAYOUTS, ...layout } } }
}
