import { nodeSchema } from '../schema.js'
import { brokerOption } from './broker.option.js'
import { gatheringProperties } from './gathering.js'
import { mappingsProperty } from './mappings.option.js'

const MAX_LENGTH = 1000
const MAX_SINK_NAME = 255
/** What there is only over MQTT. */
const MQTT = { via: 'mqtt' }
/** An MQTT topic filter: + is a whole level, # the last one. */
const FILTER = '^(\\$share/[^/+#\\p{Cc}]+/(?=.)|(?!\\$share(/|$)))((\\+|[^/+#\\p{Cc}]*)/)*(\\+|[^/+#\\p{Cc}]*|#)$'

/** @satisfies {import('../schema.js').Property} */
export const timeUnit = {
  type: 'string',
  title: 'Time unit',
  description: 'The unit of times that are plain numbers in third-party messages.',
  enum: ['s', 'ms', 'us', 'ns'],
  'x-labels': { s: 'seconds', ms: 'milliseconds', us: 'microseconds', ns: 'nanoseconds' },
  default: 'ms',
  'x-advanced': true
}

export const schema = nodeSchema(brokerOption, {
  properties: {
    sinks: {
      type: 'array',
      items: { type: 'string', title: 'Sink', maxLength: MAX_SINK_NAME },
      title: 'Sinks',
      description: 'The names of the sinks that must store each batch before it is acknowledged, one a line. Empty: every sink wired ' +
        'behind this node.',
      default: []
    },
    group: {
      type: 'string',
      title: 'Group',
      description: 'Where several gateways store into one database knowingly: the same group in each, and the same names of sinks, which ' +
        'share what is stored. With Kafka they share the sources, too. Empty: the sinks are this gateway\'s own.',
      maxLength: MAX_LENGTH,
      'x-check': 'member-group',
      default: '',
      'x-advanced': true
    },
    member: {
      type: 'integer',
      title: 'Member',
      description: 'Where the members of a group share the gateways: which of them this one is, from 1. Each gateway has one member; ' +
        'while they are being changed two may read it, and it is stored once all the same.',
      minimum: 1,
      maximum: 100,
      'x-check': 'member',
      default: 1,
      'x-when': MQTT,
      'x-advanced': true
    },
    members: {
      type: 'integer',
      title: 'Of',
      description: 'How many members share the gateways, the same number in each. 1: this one reads all.',
      minimum: 1,
      maximum: 100,
      default: 1,
      'x-unit': 'members',
      'x-when': MQTT,
      'x-advanced': true
    },
    gateway: {
      type: 'string',
      title: 'Gateway',
      description: 'Accept batches of this gateway only. Empty, or +: those of all gateways.',
      maxLength: MAX_LENGTH,
      default: '+',
      'x-labels': { '': 'all gateways' },
      'x-offers': 'gateways'
    },
    source: {
      type: 'string',
      title: 'Source',
      description: 'Accept batches of this source only. Empty, or +: those of all sources.',
      maxLength: MAX_LENGTH,
      default: '+',
      'x-labels': { '': 'all sources' },
      'x-offers': 'sources'
    },
    mappings: { ...mappingsProperty('listen'), 'x-when': MQTT },
    receiveMaximum: {
      type: 'integer',
      title: 'In flight',
      description: 'How many messages the broker may send before the first of them is stored and acknowledged: this holds back the ' +
        'broker when a database is slow. Of third-party messages, and of batches in Kafka, it is ten times as many.',
      minimum: 1,
      maximum: 65_535,
      default: 100,
      'x-unit': 'messages',
      'x-advanced': true
    },
    overdueMs: {
      type: 'integer',
      title: 'Overdue after',
      description: 'A batch that the flow has neither stored nor settled by then is emitted again; after that it is parked and counted.',
      minimum: 100,
      maximum: 3_600_000,
      default: 30_000,
      'x-unit': 'ms',
      'x-advanced': true
    },
    quietMs: {
      type: 'integer',
      title: 'Quiet time',
      description: 'A batch that a flow has changed counts as stored when nothing more of it has reached a sink for so long. Batches ' +
        'that pass unchanged do not wait.',
      minimum: 0,
      maximum: 3_600_000,
      default: 2000,
      'x-unit': 'ms',
      'x-advanced': true
    },
    settledByFlow: {
      type: 'boolean',
      title: 'Settled by the flow',
      description: 'For flows that send later than the quiet time: a batch that they have changed counts as stored once a settle node ' +
        'has received its last message.',
      default: false,
      'x-advanced': true
    },
    foreignTopics: {
      type: 'array',
      items: { type: 'string', title: 'Topic', pattern: FILTER, examples: ['plant/+/state or plant/#'], maxLength: MAX_LENGTH },
      title: 'Other topics',
      description: 'MQTT topic filters of third-party messages, one a line: JSON of many shapes, SenML, InfluxDB line protocol ' +
        '(Telegraf), Arrow, and Sparkplug B under spBv1.0/#. They are spooled and given an identity here before they are ' +
        'acknowledged.',
      default: [],
      'x-when': MQTT,
      'x-advanced': true
    },
    sparkplugHost: {
      type: 'string',
      title: 'Sparkplug host',
      description: 'The id of the Sparkplug host that this node is, for edge nodes that wait for it: published as STATE while it is ' +
        'connected. Each stage in needs its own. Empty: no state is published.',
      pattern: '^[^/+#]*$',
      examples: ['scada'],
      maxLength: 100,
      default: '',
      'x-labels': { '': 'none' },
      'x-when': MQTT,
      'x-advanced': true
    },
    ...Object.fromEntries(Object.entries(gatheringProperties).map(([name, property]) => [name, { ...property, 'x-when': MQTT }])),
    maxSources: {
      type: 'integer',
      title: 'Sources',
      description: 'How many sources third-party messages may have: each gets a spool and tables of its own. When there are more, the ' +
        'values of new ones are kept among the dead letters, until a source has been silent for ten minutes.',
      minimum: 1,
      maximum: 1000,
      default: 500,
      'x-when': MQTT,
      'x-advanced': true
    },
    timeUnit: { ...timeUnit, 'x-when': MQTT }
  }
})
