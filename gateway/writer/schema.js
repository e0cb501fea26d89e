const MIB = 1024 * 1024

/** How a sink's writer gathers, sends and stops: the same for every sink. */
export const schema = {
  type: 'object',
  title: 'Writer',
  additionalProperties: false,
  properties: {
    batchRows: {
      type: 'integer',
      title: 'Batch size',
      description: 'As many rows are written at once. More is faster, up to some ten thousands; fewer are visible sooner. A message ' +
        'of more rows is written in parts. A batch that was staged is one whole: stage out says how many rows it has.',
      minimum: 1,
      maximum: 1_000_000,
      default: 5000,
      'x-unit': 'rows'
    },
    maxAgeMs: {
      type: 'integer',
      title: 'Batch age',
      description: 'When its oldest row has waited this long, a batch is written however small it is; at once where little comes.',
      minimum: 1,
      maximum: 3_600_000,
      default: 100,
      'x-unit': 'ms'
    },
    batchBytes: {
      type: 'integer',
      title: 'Batch memory',
      description: 'A batch of about this many bytes is written however few rows it has: for long texts and blobs.',
      minimum: 1024,
      maximum: 1024 * MIB,
      default: 16 * MIB,
      'x-unit': 'bytes',
      'x-advanced': true
    },
    inFlight: {
      type: 'integer',
      title: 'Batches in flight',
      description: 'How many batches are sent without waiting for the database to answer the one before.',
      minimum: 1,
      maximum: 16,
      default: 2,
      'x-unit': 'batches',
      'x-advanced': true
    },
    maxPendingBytes: {
      type: 'integer',
      title: 'Memory limit',
      description: 'When about this many bytes wait for the database, no more are accepted: what comes from a broker stays there, ' +
        'anything else is counted as lost.',
      minimum: MIB,
      maximum: 16 * 1024 * MIB,
      default: 64 * MIB,
      'x-unit': 'bytes',
      'x-advanced': true
    },
    drainMs: {
      type: 'integer',
      title: 'Time to finish',
      description: 'How long a deploy or a stop waits until what is on its way is stored. The rest is released: the broker delivers ' +
        'it again. Node-RED itself waits no longer than 15 s.',
      minimum: 0,
      maximum: 600_000,
      default: 5000,
      'x-unit': 'ms',
      'x-advanced': true
    }
  }
}
