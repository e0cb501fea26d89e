import { playProperties } from '../playback/options.js'
import { nameProperty } from '../source.js'

export const schema = {
  type: 'object',
  title: 'CSV player',
  description: 'Plays a CSV file: one batch per tick, one column per field.',
  required: ['file'],
  properties: {
    name: nameProperty('csv'),
    file: {
      type: 'string',
      title: 'File',
      description: 'Quoted cells may contain delimiters and line breaks.',
      default: 'data/furnace.csv',
      minLength: 1
    },
    columns: {
      type: 'array',
      title: 'Columns',
      description: 'What is read from the file. Empty: all of it, and the time is the column named time, timestamp, ts, datetime or date.',
      maxItems: 1000,
      default: [],
      items: {
        type: 'object',
        required: ['column'],
        properties: {
          column: { type: 'string', title: 'Column', description: 'Its name in the first line, or its number from 1 on.', minLength: 1 },
          field: { type: 'string', title: 'Field', description: 'What it is called in the batch. Empty: as in the file.', default: '' },
          role: {
            type: 'string',
            title: 'Role',
            description: 'A tag is the same for a whole batch, and a source is appended to the name: rows that differ in them go into ' +
              'batches of their own. Two times are joined, a date and a time of day.',
            enum: ['field', 'time', 'tag', 'source'],
            default: 'field'
          },
          type: {
            type: 'string',
            title: 'Type',
            description: 'Of a field. Automatic: by the first 1000 rows, and whole numbers by the first million, in which they may turn ' +
              'decimal; later, a value that does not fit is missing.',
            enum: ['auto', 'float64', 'int64', 'bool', 'string'],
            default: 'auto',
            'x-when': { role: 'field' }
          },
          unit: {
            type: 'string',
            title: 'Unit',
            description: 'Kept with the field, for example °C.',
            default: '',
            'x-when': { role: 'field' }
          }
        }
      }
    },
    timeFormat: {
      type: 'string',
      title: 'Format of times',
      description: 'Dates are ISO 8601, with "T" or a blank, up to nine decimals, with or without zone, or 31.12.2024. Of dates such as ' +
        '31/12/2024, automatic finds out what comes first where a number is over 12, and otherwise asks. Numbers are exact to the ' +
        'nanosecond.',
      enum: ['auto', 'date', 'day-first', 'month-first', 's', 'ms', 'us', 'ns', 'relative', 'none'],
      'x-labels': {
        auto: 'Automatic',
        date: 'Date and time',
        'day-first': 'Date, day first: 31/12/2024',
        'month-first': 'Date, month first: 12/31/2024',
        s: 'Seconds since 1970',
        ms: 'Milliseconds since 1970',
        us: 'Microseconds since 1970',
        ns: 'Nanoseconds since 1970',
        relative: 'Seconds since the start',
        none: 'No times: a rate'
      },
      default: 'auto'
    },
    timeZone: {
      type: 'string',
      title: 'Time zone',
      description: 'Of dates without one, for example Europe/Berlin. Of the hour that comes twice in autumn, the first is meant.',
      default: 'UTC',
      minLength: 1,
      'x-check': 'time-zone',
      'x-when': { timeFormat: ['auto', 'date', 'day-first', 'month-first'] }
    },
    rowsPerSecond: {
      type: 'number',
      title: 'Rate',
      description: 'Of a file without times.',
      minimum: 0.001,
      maximum: 1_000_000,
      default: 1,
      'x-unit': 'rows/s',
      'x-when': { timeFormat: 'none' }
    },
    ...playProperties('file', 'recorded'),
    header: {
      type: 'boolean',
      title: 'First line has names',
      description: 'Otherwise the columns are column1, column2 and so on.',
      default: true,
      'x-advanced': true
    },
    delimiter: {
      type: 'string',
      title: 'Delimiter',
      description: 'Automatic: as a first line such as sep=; says; otherwise tab, semicolon or comma, the first of these that the first ' +
        'line has.',
      enum: ['auto', 'comma', 'semicolon', 'tab'],
      'x-labels': { auto: 'Automatic', comma: 'Comma', semicolon: 'Semicolon', tab: 'Tab' },
      default: 'auto',
      'x-advanced': true
    },
    decimal: {
      type: 'string',
      title: 'Decimal sign',
      description: 'Of numbers in the file. With a comma, points may separate thousands.',
      enum: ['.', ','],
      'x-labels': { '.': 'Point', ',': 'Comma' },
      default: '.',
      'x-advanced': true
    },
    encoding: {
      type: 'string',
      title: 'Encoding',
      description: 'Of the characters in the file.',
      enum: ['utf-8', 'latin1'],
      'x-labels': { 'utf-8': 'UTF-8', latin1: 'Latin-1 (Windows-1252)' },
      default: 'utf-8',
      'x-advanced': true
    }
  }
}
