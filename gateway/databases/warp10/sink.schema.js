import { FORMATS } from '../../messages/codecs/warp10/text.js'
import { retentionProperties } from '../retention.schema.js'

/** Options of the Warp 10 sink. */
export const schema = {
  type: 'object',
  title: 'Warp 10',
  description: 'Stores batches in Warp 10 by its text over HTTP, each sample exactly once by its own key: class, labels and time.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Label id',
      description: 'The value of the label id of all series; {source} in it stands for the name of the source. Each field is a class. ' +
        'Labels are the tags, gateway (of staged batches), source where all share one id, row, which tells rows of the same time and ' +
        'tags apart, and ns: what a time has beyond the unit of the server, in nanoseconds. A position is where points are, and also ' +
        'stored as values, which the server does not round.',
      minLength: 1,
      default: '{source}'
    },
    format: {
      type: 'string',
      title: 'Format',
      description: 'Of the text. naive, ordered and optimized store the same points, with more or fewer repetitions in the text. ' +
        'multi-value stores a row as one point of the class allchannels, a list, and the label fields has the names; uncompressed tells ' +
        'the server not to compress it. Queries do not read lists.',
      enum: FORMATS,
      'x-labels': {
        naive: 'naive: row by row',
        ordered: 'ordered: field by field',
        optimized: 'optimized: names once',
        'multi-value': 'multi-value: a list per row',
        uncompressed: 'uncompressed: a list per row'
      },
      default: 'optimized',
      'x-advanced': true
    },
    ...retentionProperties
  }
}
