import { UNITS_PATTERN } from '../../../resources/units.js'

/** What can go wrong with a request, by the name of the fault. */
export const FAULTS = {
  delay: 'Late reply',
  silence: 'No reply',
  exception: 'Exception',
  'wrong-length': 'A byte too few',
  garbage: 'Random bytes before or instead of the reply',
  drop: 'Half a reply, connection closed',
  'wrong-unit': 'Reply of another unit',
  'wrong-transaction': 'Reply to another request (TCP)',
  'bad-crc': 'Wrong checksum (RTU)'
}

const properties = {
  unit: {
    type: 'string',
    title: 'Units',
    description: 'The units it happens to, for example 3 or 1, 5-12; empty for all.',
    pattern: UNITS_PATTERN,
    examples: ['1, 5-12'],
    'x-labels': { '': 'all' },
    default: ''
  },
  percent: {
    type: 'number',
    title: 'Probability',
    description: 'How many of the requests it happens to.',
    minimum: 0,
    maximum: 100,
    'x-unit': '%',
    default: 100
  },
  delayMs: {
    type: 'integer',
    title: 'Delay',
    description: 'Of a late reply.',
    minimum: 0,
    maximum: 600000,
    'x-unit': 'ms',
    default: 500
  },
  exception: {
    type: 'integer',
    title: 'Exception',
    description: 'Its code, for example 4 (device failure) or 6 (busy).',
    minimum: 1,
    maximum: 255,
    default: 4
  }
}

const fault = {
  type: 'string',
  title: 'Fault',
  description: 'What goes wrong.',
  'x-labels': FAULTS
}

/** A row of the table: a fault from the start on. */
export const rowSchema = {
  type: 'object',
  properties: { fault: { ...fault, enum: Object.keys(FAULTS), default: 'silence' }, ...properties }
}

/** A fault that is set while it runs: "none" ends all faults, "offline" closes the connections and accepts no others. */
export const commandSchema = {
  type: 'object',
  required: ['fault'],
  properties: {
    fault: { ...fault, enum: ['none', 'offline', ...Object.keys(FAULTS)] },
    ...properties,
    seconds: {
      type: 'number',
      title: 'Seconds',
      description: 'How long; 0: until "none" ends it.',
      minimum: 0,
      maximum: 1_000_000,
      'x-unit': 's',
      default: 0
    }
  }
}
