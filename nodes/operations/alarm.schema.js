import { KINDS } from '../../gateway/alarms/kinds/index.js'
import { nodeSchema } from '../schema.js'

export const schema = nodeSchema({
  properties: {
    level: {
      type: 'string',
      title: 'Level',
      description: 'A problem stops samples or loses them; a warning says that it may come to that.',
      enum: ['warning', 'problem'],
      'x-labels': { warning: 'warnings and problems', problem: 'problems only' },
      default: 'warning'
    },
    kinds: {
      type: 'array',
      title: 'Kinds',
      description: 'Which kinds of alarms are sent, such as sink-unreachable or source-silent. The help lists them. Empty: all.',
      items: { type: 'string', title: 'Kind', enum: Object.keys(KINDS) },
      default: []
    },
    atStart: {
      type: 'boolean',
      title: 'When the flow starts',
      description: 'Send all that is raised then, too.',
      default: true
    },
    limits: {
      type: 'array',
      title: 'Exceptions',
      description: 'Limits of this gateway that are not the usual ones, for the live page and all else that shows alarms, too.',
      default: [],
      maxItems: 1000,
      'x-unique': ['of', 'name'],
      items: {
        type: 'object',
        required: ['limit'],
        properties: {
          of: {
            type: 'string',
            title: 'Alarm',
            description: 'What is limited: seconds for which a source is silent, seconds for which a sink waits for its database, or per ' +
              'cent of a spool that are used.',
            enum: ['silent', 'waiting', 'spool'],
            'x-labels': { silent: 'source silent, s', waiting: 'sink waiting, s', spool: 'spool used, %' },
            default: 'silent'
          },
          name: {
            type: 'string',
            title: 'Name',
            description: 'Of the source, sink or stage out, as the alarm names it. Empty: all that are not listed.',
            default: '',
            maxLength: 255,
            'x-labels': { '': 'all others' }
          },
          limit: {
            type: 'number',
            title: 'Threshold',
            description: 'From when on there is an alarm; 0: never.',
            minimum: 0,
            maximum: 31_536_000
          }
        }
      }
    }
  }
})
