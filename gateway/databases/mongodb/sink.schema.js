import { layoutProperties, LAYOUTS } from '../../batch/layouts.js'
import { retentionProperties } from '../retention.schema.js'
import { UPSERT_LABEL, upsertProperties, withUpsert } from '../upsert/layout.js'

/** Options of the MongoDB sink. */
export const schema = {
  type: 'object',
  title: 'MongoDB',
  description: 'Stores batches in MongoDB, each sample exactly once: the _id of a document names its batch and row, so that a document ' +
    'which is written again is found stored. Only time-series collections, whose _id is not unique, store at least once.',
  additionalProperties: false,
  properties: {
    table: {
      type: 'string',
      title: 'Collection',
      description: 'The collection to store in; {source} in it stands for the name of the source. Created when missing. Documents have ' +
        'time (a date, rounded down to milliseconds), time_ns (a long, the exact nanoseconds since 1970 UTC), the tags and fields, and ' +
        'source where all share a collection. What is missing is left out. In keys, each full stop becomes ． and a leading $ becomes ＄.',
      minLength: 1,
      default: '{source}'
    },
    ...layoutProperties,
    ...upsertProperties,
    layout: withUpsert({
      ...layoutProperties.layout,
      description: 'wide: a document per time, a key per field. narrow: a document per value, with keys sensor (the field\'s name) and ' +
        'value; what a double does not hold exactly goes to value_int64, value_string or value_bytes. document: a document per ' +
        'interval, with keys size, fields (their names) and measurements, an array of {ns, m}: nanoseconds since the interval\'s ' +
        'start, and a value per field. timeseries: as wide, in a time-series collection with the metadata meta (source and tags), ' +
        'which MongoDB has since 5.0: at least once, as a kill may store rows twice. ' +
        'paper-individual and paper-bulk: as Arnst, Plenk and Wöltche print them, of times in milliseconds alone: {time, sensors}, an ' +
        'array of a sample\'s values; {time, measurements}, a second with an array of such samples. A batch that is half stored when ' +
        'the layout or interval is changed is stored in both, in part.',
      enum: [...LAYOUTS, 'timeseries', 'paper-individual', 'paper-bulk'],
      'x-labels': {
        wide: 'wide: a document per time',
        narrow: 'narrow: a document per value',
        document: 'document: a document per interval',
        timeseries: 'timeseries: at least once',
        'paper-individual': 'paper-individual: a document per sample',
        'paper-bulk': 'paper-bulk: a document per second',
        ...UPSERT_LABEL
      }
    }),
    ...retentionProperties,
    index: {
      type: 'boolean',
      title: 'Index',
      description: 'Creates an index on time_ns (of the narrow layout: on sensor and time_ns; of the paper\'s: on time; of upsert: on ' +
        'the key) in the collection. A time-series collection has its own.',
      default: true,
      'x-advanced': true
    }
  }
}
