import { nodeSchema } from '../schema.js'

export const schema = nodeSchema({
  properties: {
    compare: {
      type: 'boolean',
      title: 'Compare',
      description: 'Also puts each report beside the one before of the same study.',
      default: false
    },
    folder: {
      type: 'string',
      title: 'Reports in',
      description: 'The folder in which reports are written, and from which they are served: best that of bench run. Relative to the ' +
        'folder "sluice" in Node-RED\'s user directory.',
      minLength: 1,
      default: 'bench-reports',
      'x-advanced': true
    }
  }
})
