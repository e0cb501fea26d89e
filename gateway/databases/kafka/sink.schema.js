import { layoutProperties } from '../../batch/layouts.js'

const { layout } = layoutProperties

/** Options of the Kafka sink. */
export const schema = {
  type: 'object',
  title: 'Kafka',
  description: 'Writes batches to topics of Kafka, each sample exactly once for whoever reads what is committed.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Topic',
      description: 'The topic to write to; {source} in it stands for the name of the source. Created when missing.',
      minLength: 1,
      default: '{source}'
    },
    format: {
      type: 'string',
      title: 'Format',
      description: 'arrow: a record is an Apache Arrow stream of up to 10,000 rows, with tags and identity in its metadata, as ' +
        'batches are staged. json: a record is a row, an object of time (ISO 8601 with nine decimals), source where several share the ' +
        'topic, tags and fields.',
      enum: /** @type {const} */ (['arrow', 'json']),
      'x-labels': { arrow: 'arrow: many rows a record', json: 'json: a row a record' },
      default: 'arrow'
    },
    layout: {
      ...layout,
      description: 'wide: a row per time, with all fields. narrow: a row per value, with sensor (the field\'s name) and value; what a ' +
        'double does not hold exactly is in value_int64, value_string or value_bytes.',
      enum: /** @type {const} */ (['wide', 'narrow']),
      'x-labels': { wide: 'wide: a row per time', narrow: 'narrow: a row per value' }
    },
    keyTag: {
      type: 'string',
      title: 'Key tag',
      description: 'The key of a record is the source or, with a tag here, the source, a slash and the value of that tag: records with ' +
        'equal keys are in one partition, in their order. A tag that differs by row splits batches.',
      default: '',
      'x-labels': { '': 'source alone' }
    },
    partitions: {
      type: 'integer',
      title: 'Partitions',
      description: 'Of a topic that the sink creates. 0 leaves it to the brokers (num.partitions).',
      minimum: 0,
      maximum: 10_000,
      default: 0,
      'x-labels': { 0: 'as the brokers have it' },
      'x-advanced': true
    },
    compression: {
      type: 'string',
      title: 'Compression',
      description: 'Of what is sent and stored. It takes time of the gateway\'s processor.',
      enum: /** @type {const} */ (['none', 'gzip', 'snappy', 'lz4', 'zstd']),
      default: 'none',
      'x-advanced': true
    },
    writer: {
      type: 'string',
      title: 'Writer',
      description: 'Sinks with one writer and topic write in turn, and know what the others have stored: the newest ends what an older ' +
        'one has under way. Empty is the gateway\'s id, so that each gateway writes on its own. Gateways that store the same batches in ' +
        'one topic, as those of a group may, need the same name here.',
      default: '',
      'x-labels': { '': 'this gateway' },
      'x-advanced': true
    }
  }
}
