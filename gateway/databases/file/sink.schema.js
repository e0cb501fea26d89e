import { layoutProperties } from '../../batch/layouts.js'
import { FORMATS } from '../../messages/codecs/warp10/text.js'
import { retentionProperties } from '../retention.schema.js'

/** Options of the file sink. */
export const schema = {
  type: 'object',
  title: 'Files',
  description: 'Stores batches in files of CSV, InfluxDB line protocol, Apache Arrow or Warp 10\'s text, each sample exactly once.',
  additionalProperties: false,
  properties: {
    folder: {
      type: 'string',
      title: 'Folder',
      description: 'Where the files are written. It is created when missing. One process at a time writes in a folder; its records of ' +
        'what is stored are kept in .sluice there.',
      minLength: 1,
      default: 'files'
    },
    file: {
      type: 'string',
      title: 'File',
      description: 'The files\' name, which a number and the format\'s ending follow (press-000001.csv); {source} in it stands for ' +
        'the name of the source. Where sources share a file, a column source tells them apart.',
      minLength: 1,
      default: '{source}'
    },
    format: {
      type: 'string',
      title: 'Format',
      description: 'CSV: a line of column names, then a line per row; texts are quoted, missing values are empty, bytes are ' +
        'hexadecimal. Line protocol: as InfluxDB reads it; what is missing, NaN or infinite is left out. Arrow: the fastest and ' +
        'smallest, with exact types; a file that is still being written is an Arrow stream after its first 8 bytes. Warp 10: its input ' +
        'format, times rounded down to microseconds; the fields latitude, longitude and elevation are the position of the other values.',
      enum: ['csv', 'lines', 'arrow', 'warp10'],
      'x-labels': { csv: 'CSV (.csv)', lines: 'InfluxDB line protocol (.lp)', arrow: 'Apache Arrow (.arrow)', warp10: 'Warp 10 (.gts)' },
      default: 'csv'
    },
    timeFormat: {
      type: 'string',
      title: 'Time',
      description: 'How times are written: as ISO 8601 in UTC with nine decimals, or as whole nanoseconds since 1970.',
      enum: ['iso', 'ns'],
      'x-labels': { iso: '2026-01-31T12:00:00.123456789Z', ns: 'nanoseconds since 1970' },
      default: 'iso',
      'x-when': { format: 'csv' }
    },
    warp10Format: {
      type: 'string',
      title: 'Lines',
      description: 'naive: a line per value, row by row. ordered: field by field. optimized: as ordered, where = stands for the class ' +
        'and labels of the line before. multi-value: a line per row with a list of its values, whose names a comment says. ' +
        'uncompressed: the same, but Warp 10 does not compress the list.',
      enum: FORMATS,
      'x-labels': {
        naive: 'naive: a line per value',
        ordered: 'ordered: by fields',
        optimized: 'optimized: continued by =',
        'multi-value': 'multi-value: [ … ]',
        uncompressed: 'uncompressed: [! … ]'
      },
      default: 'multi-value',
      'x-when': { format: 'warp10' }
    },
    ...layoutProperties,
    layout: { ...layoutProperties.layout, 'x-when': { format: ['csv', 'lines', 'arrow'] } },
    maxMegabytes: {
      type: 'integer',
      title: 'File size',
      description: 'A file that would grow beyond this is finished, and the next one begun; only what is written at once may be more.',
      minimum: 1,
      maximum: 1_000_000,
      default: 256,
      'x-unit': 'MiB'
    },
    maxMinutes: {
      type: 'integer',
      title: 'File age',
      description: 'A new file is begun this often, by the clock in UTC: 60 on the hour, 1440 at midnight. 0: by size only.',
      minimum: 0,
      maximum: 525_600,
      default: 0,
      'x-unit': 'minutes'
    },
    keepDays: {
      ...retentionProperties.keepDays,
      description: 'A file is removed whole once it was last written to longer ago; 0.5 is twelve hours. So that there are such files, ' +
        'one is begun at least this often. Files that were moved or renamed are left alone. 0 keeps all for ever.'
    },
    fsync: {
      type: 'string',
      title: 'Write to disk',
      description: 'When rows are forced to disk. Every write: a power cut loses nothing that was reported stored. Left to the ' +
        'system: a power cut may lose what the system had not written yet, some 30 s; a killed process loses nothing.',
      enum: ['write', 'system'],
      'x-labels': { write: 'every write', system: 'left to the system' },
      default: 'write',
      'x-advanced': true
    }
  }
}
