import { presets } from '../../gateway/messages/mapping/presets.js'

/** @typedef {import('../../resources/options.js').Property} Property */

const MAX_MAPPINGS = 100

/** Of a pattern: what is wrong in it beyond this, trying it tells. */
const LEVEL = '(\\+|[^/+#{}]*|\\{[^/+#{}]+\\})'

const defaultsOf = Object.fromEntries(presets.map(({ id, label: _label, help: _help, ...defaults }) => [id, defaults]))
const helpOf = Object.fromEntries(presets.map(({ id, help }) => [id, help]))

/** @type {Record<string, Property>} */
const properties = {
  preset: {
    type: 'string',
    title: 'Preset',
    description: 'What publishes the messages: it fills in what the other fields leave empty.',
    enum: ['', ...presets.map(({ id }) => id)],
    'x-labels': { '': 'none', ...Object.fromEntries(presets.map(({ id, label }) => [id, label])) },
    default: ''
  },
  topic: {
    type: 'string',
    title: 'Topic pattern',
    description: 'The topics it is for. A {name} stands for one level, and makes it a tag; {source} names the source, {field} the field ' +
      'of a bare value, {_} and + are ignored; {rest…} at the end stands for all further levels, # likewise, ignored. Of several ' +
      'mappings the first that matches decides.',
    pattern: `^(\\$share/[^/+#{}]+/(?=.)|(?!\\$share(/|$)))(${LEVEL}/)*(${LEVEL}|#)$`,
    examples: ['plant/{line}/{device}/telemetry'],
    maxLength: 1000
  },
  source: {
    type: 'string',
    title: 'Source',
    description: 'The name of the source, which is its table: text, and names of the pattern, as in plant.{line}. Empty: {source} of the ' +
      'pattern, otherwise its first level that is text.',
    default: '',
    maxLength: 255,
    'x-labels': { '': 'from the topic' }
  },
  time: {
    type: 'string',
    title: 'Time',
    description: 'The member that is the time, with dots into objects: meta.time. Empty: time, timestamp, ts and the like where there is ' +
      'one, otherwise when the message arrives.',
    default: '',
    'x-advanced': true
  },
  timeFormat: {
    type: 'string',
    title: 'Time format',
    description: 'Text is ISO 8601, as in 2026-11-21T08:00:00Z; a number is in this unit, otherwise in the Time unit of the node.',
    enum: ['', 'auto', 's', 'ms', 'us', 'ns', 'iso'],
    'x-labels': {
      '': 'as it looks', auto: 'as it looks', s: 'seconds', ms: 'milliseconds', us: 'microseconds', ns: 'nanoseconds', iso: 'ISO 8601'
    },
    default: '',
    'x-advanced': true
  },
  tags: {
    type: 'array',
    items: { type: 'string', title: 'Tag' },
    title: 'Tags',
    description: 'Members that tell devices or places apart, one a line: device.id. With another name: room=location.room. Each is a ' +
      'column of text, and can be asked for in queries.',
    default: [],
    'x-advanced': true
  },
  values: {
    type: 'string',
    title: 'Values',
    description: 'The object that has the values, with dots: data.readings. Empty: the whole message.',
    default: '',
    'x-advanced': true
  },
  rows: {
    type: 'string',
    title: 'Rows',
    description: 'The array of which each element is a row, with dots: data.samples. Empty: the message is one row, or a row for each ' +
      'element where it is an array.',
    default: '',
    'x-advanced': true
  },
  prefix: {
    type: 'string',
    title: 'Prefix',
    description: 'Text before the name of each field: env_ makes temperature env_temperature.',
    default: '',
    maxLength: 100,
    'x-advanced': true
  },
  include: {
    type: 'array',
    items: { type: 'string', title: 'Field' },
    title: 'Only these fields',
    description: 'Names of the fields that are kept, one a line; * stands for anything: temp*. Empty: all.',
    default: [],
    'x-labels': { '': 'all' },
    'x-advanced': true
  },
  exclude: {
    type: 'array',
    items: { type: 'string', title: 'Field' },
    title: 'Not these fields',
    description: 'Names of fields that are left out, one a line; * stands for anything: wifi.*',
    default: [],
    'x-advanced': true
  }
}

/**
 * How topics and JSON become sources, tags and fields.
 * @param {'listen'|'message'} trial  what the form tries it on: what the broker has, or a message that is pasted
 * @returns {Property}
 */
export function mappingsProperty (trial) {
  return {
    type: 'array',
    title: 'Topics',
    description: 'How a topic and what is in its messages become source, tags, time and fields. The first mapping whose pattern matches ' +
      'decides; Try shows it at once.',
    maxItems: MAX_MAPPINGS,
    default: [],
    'x-trial': trial,
    items: /** @type {any} */ ({ type: 'object', required: ['topic'], properties, 'x-presets': defaultsOf, 'x-preset-help': helpOf })
  }
}
