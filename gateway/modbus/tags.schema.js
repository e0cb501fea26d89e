import { AREAS } from './addresses.js'
import { ORDERS } from './bytes.js'
import { NUMBER_TYPES, TEXT_TYPES, TYPES } from './values.js'

/** @typedef {import('../../resources/options.js').Property} Property */

const MAX_TAGS = 5000

/** The properties of any tag. @type {Record<string, Property>} */
const common = {
  name: { type: 'string', title: 'Name', description: 'Names the column.', minLength: 1, maxLength: 255 },
  area: {
    type: 'string',
    title: 'Area',
    description: 'Which of the device\'s four tables contains it.',
    enum: AREAS,
    'x-labels': {
      'holding-registers': 'holding registers',
      'input-registers': 'input registers',
      coils: 'coils',
      'discrete-inputs': 'discrete inputs'
    },
    default: 'holding-registers'
  },
  address: {
    type: 'string',
    title: 'Address',
    description: 'Of its first register, or of its bit; 100.3 is bit 3 of register 100.',
    minLength: 1,
    maxLength: 9
  },
  type: {
    type: 'string',
    title: 'Type',
    description: 'bool is for coils and discrete inputs, all others are for registers. string is one byte a character (ISO 8859-1), ' +
      'string-utf8 UTF-8; uint64-string is the digits of an unsigned number of 64 bits, also beyond the 63 bits that uint64 has.',
    enum: TYPES,
    default: 'int16'
  },
  length: {
    type: 'integer',
    title: 'Length',
    description: 'Bytes of a text, two in each register.',
    minimum: 1,
    maximum: 250,
    default: 16,
    'x-when': { type: TEXT_TYPES }
  },
  order: {
    type: 'string',
    title: 'Order',
    description: 'Of its bytes: ABCD most significant first, CDAB registers reversed, BADC bytes swapped in each register, DCBA both.',
    enum: ['', ...ORDERS],
    'x-labels': { '': 'the device\'s' },
    'x-when': { type: TYPES.filter(type => type !== 'bool') },
    default: ''
  },
  scale: {
    type: 'number',
    title: 'Scale',
    description: 'The value is raw · scale + offset.',
    default: 1,
    'x-when': { type: NUMBER_TYPES }
  },
  offset: {
    type: 'number',
    title: 'Offset',
    description: 'The value is raw · scale + offset.',
    default: 0,
    'x-when': { type: NUMBER_TYPES }
  },
  unit: { type: 'string', title: 'Unit', description: 'Kept with the column, for example °C.', default: '', maxLength: 50 }
}

/** @type {Record<string, Property>} */
const reading = {
  group: { type: 'string', title: 'Group', description: 'The poll group that reads it.', default: '', 'x-labels': { '': 'the first' } },
  deadband: {
    type: 'number',
    title: 'Deadband',
    description: 'A row in which no value of the group has changed by more than its deadband since the last row sent is skipped; 0 ' +
      'skips equal values. Empty: every row of the group is sent.',
    minimum: 0,
    default: null,
    'x-labels': { '': 'none' }
  },
  heartbeatMs: {
    type: 'integer',
    title: 'Heartbeat',
    description: 'With deadbands: the longest time without a row, to the nearest poll; 0: no limit.',
    minimum: 0,
    maximum: 86_400_000,
    'x-unit': 'ms',
    default: 60_000
  }
}

/** @type {Record<string, Property>} */
const writing = {
  min: {
    type: 'number',
    title: 'Lowest',
    description: 'A lower value is refused. Empty: the limit of the type.',
    default: null,
    'x-labels': { '': 'none' },
    'x-when': { type: NUMBER_TYPES }
  },
  max: {
    type: 'number',
    title: 'Highest',
    description: 'A higher value is refused. Empty: the limit of the type.',
    default: null,
    'x-labels': { '': 'none' },
    'x-when': { type: NUMBER_TYPES }
  }
}

/** The tags that are read. */
export const tagsProperty = tableOf('modbus-tags', 'What is read: one column for each tag.', { ...common, ...reading })

/** The tags that may be written. */
export const writableTagsProperty = tableOf(
  'modbus-writable-tags', 'What may be written, and within which limits; nothing else can be.', { ...common, ...writing }
)

/** @param {string} check @param {string} description @param {Record<string, Property>} properties @returns {Property} */
function tableOf (check, description, properties) {
  return /** @type {any} */ ({
    type: 'array',
    title: 'Tags',
    description,
    maxItems: MAX_TAGS,
    default: [],
    'x-unique': ['name'],
    'x-check': check,
    items: { type: 'object', required: ['name', 'address'], properties }
  })
}
