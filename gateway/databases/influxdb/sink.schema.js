import { retentionProperties } from '../retention.schema.js'

/** Options of the InfluxDB sink. */
export const schema = {
  type: 'object',
  title: 'InfluxDB',
  description: 'Stores batches in InfluxDB by line protocol, each sample exactly once by its own key: source, tags and time. By UDP, ' +
    'samples may be lost.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Measurement',
      description: 'The measurement to store in; {source} in it stands for the name of the source. Times are in nanoseconds. Tags ' +
        'are tags, and so are gateway (of staged batches), source where all share a measurement, and row, which tells samples of the ' +
        'same time in one batch apart. Fields are fields; what is missing is left out, and so is NaN, which InfluxDB cannot hold.',
      minLength: 1,
      default: '{source}'
    },
    layout: {
      type: 'string',
      title: 'Layout',
      description: 'wide: a point per time, with all fields. narrow: a point per value, with the field\'s name as tag sensor, and the ' +
        'value as field value; what a float does not hold exactly is value_int64, value_string or value_bytes.',
      enum: /** @type {const} */ (['wide', 'narrow']),
      'x-labels': { wide: 'wide: a point per time', narrow: 'narrow: a point per value' },
      default: 'wide'
    },
    tagFields: {
      type: 'string',
      title: 'Fields stored as tags',
      description: 'Names of fields, with commas between them, that are stored as tags: a bus address, for example. Each value of a ' +
        'tag is a series of its own, so there should be few.',
      default: '',
      'x-labels': { '': 'none' },
      'x-when': { layout: 'wide' }
    },
    ...retentionProperties,
    protocol: {
      type: 'string',
      title: 'Protocol',
      description: 'http: what is acknowledged is stored. udp (version 1): nothing is acknowledged, and what the network or the ' +
        'server drops is lost; the sink counts it afterwards, and reports it.',
      'x-check': 'udp-version',
      enum: /** @type {const} */ (['http', 'udp']),
      'x-labels': { http: 'http', udp: 'udp: may lose samples' },
      default: 'http',
      'x-advanced': true
    },
    datagramBytes: {
      type: 'integer',
      title: 'Datagram size',
      description: 'Maximum size of one datagram, which holds whole lines. Over 1472, a network splits it, and the loss of a ' +
        'fragment is the loss of all of it.',
      minimum: 64,
      maximum: 65_507,
      default: 1400,
      'x-unit': 'bytes',
      'x-when': { protocol: 'udp' },
      'x-advanced': true
    },
    retentionPolicy: {
      type: 'string',
      title: 'Retention policy',
      description: 'Of version 1: where in the database to store. Empty is the database\'s default. Samples older than it keeps are ' +
        'refused. Commit records need a policy that keeps for ever: where this one does not, they go to sluice_commits, which is ' +
        'created if the user may do that.',
      default: '',
      'x-labels': { '': 'the database\'s default' },
      'x-advanced': true
    }
  }
}
