/** A sink's name is more than a label. */
export const sinkName = {
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'How spools and dead letters know this sink; each sink has its own. A new name is a new sink, and is sent all that the spools still hold. Empty: the id of the node.',
      default: ''
    }
  }
}
