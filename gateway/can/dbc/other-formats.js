import { SluiceError } from '../../base/errors.js'

/** By what they begin with: databases that other tools have in the place of a DBC file. @type {[RegExp, string][]} */
const FORMATS = [
  [/<(?:\w+:)?AUTOSAR\b/, 'an AUTOSAR ARXML file'],
  [/<(?:\w+:)?NetworkDefinition\b/, 'a KCD database'],
  [/^\s*FormatVersion\s*=/m, 'a PCAN symbol file (SYM)'],
  [/^\s*(?:\uFEFF)?<\?xml/, 'an XML file']
]
const BEGINNING_CHARACTERS = 5000

/**
 * @param {string} text  of the file
 * @param {string} path
 * @throws {SluiceError} SLUICE_DBC_FORMAT
 */
export function refuseOtherFormats (text, path) {
  const beginning = text.slice(0, BEGINNING_CHARACTERS)
  const format = FORMATS.find(([pattern]) => pattern.test(beginning))?.[1]
  if (!format) return
  throw new SluiceError('SLUICE_DBC_FORMAT', `${path} is ${format}; only DBC files are read.`, {
    fix: 'Convert it to a DBC file, for example with canconvert of canmatrix.'
  })
}
