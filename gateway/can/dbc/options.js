import { readDbcFile } from './file.js'

const MAX_LISTED_WARNINGS = 20

/** Options of what decodes frames to signals. */
export const dbcProperties = {
  dbcFile: {
    type: 'string',
    title: 'DBC file',
    description: 'Describes the messages and signals of the bus. Messages of J1939 and NMEA 2000 are found by parameter group number, ' +
      'and their "not available" is a missing value.',
    default: 'data/vehicle.dbc',
    minLength: 1,
    'x-dbc': true
  },
  matching: {
    type: 'string',
    title: 'Identifiers of 29 bits',
    description: 'How their messages are found. By parameter group: for a file of J1939 or NMEA 2000 that does not say so, as ' +
      'canboat.dbc; priority and source address then never matter.',
    enum: ['file', 'groups'],
    'x-labels': { file: 'As the DBC file says', groups: 'By parameter group' },
    default: 'file',
    'x-advanced': true
  },
  indicators: {
    type: 'string',
    title: 'Errors and reserved values',
    description: 'Raw values that mean so in J1939 (FB to FE in the highest byte) and NMEA 2000 (the two below "not available"), ' +
      'unless the DBC file has them in the range or the table of values: missing, with the reason as the quality of the row; or numbers.',
    enum: ['missing', 'numbers'],
    'x-labels': { missing: 'Missing', numbers: 'Numbers' },
    default: 'missing',
    'x-advanced': true
  },
  choices: {
    type: 'string',
    title: 'Named values',
    description: 'Signals whose values have names in the DBC file: as numbers, or as texts.',
    enum: ['numbers', 'texts'],
    'x-labels': { numbers: 'Numbers', texts: 'Texts' },
    default: 'numbers'
  }
}

/**
 * The messages of a DBC file; its bad lines go to the log.
 * @param {{dbcFile: string} & import('./parser.js').DbcOptions} options
 * @param {import('../../base/log.js').Log} log
 */
export function readMessages ({ dbcFile, ...options }, log) {
  const { messages, warnings, hint } = readDbcFile(dbcFile, options)
  if (hint) log.warn(`${dbcFile}: ${hint}.`)
  for (const { line, reason } of warnings.slice(0, MAX_LISTED_WARNINGS)) log.warn(`${dbcFile}, line ${line}: ${reason}.`)
  const unlisted = warnings.length - MAX_LISTED_WARNINGS
  if (unlisted > 0) log.warn(`${dbcFile} has ${unlisted} more bad lines: "Check file" in the form lists them.`)
  return messages
}
