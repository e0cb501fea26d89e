import { SluiceError } from '../../base/errors.js'

/** For the beginning of a file's name; a number and an ending follow. @type {import('../names.js').NameRules} */
export const fileRules = { product: 'a file name', maxNameBytes: 200, fold: name => name }

/** Characters that some file system refuses in a name, or some program mistakes for something else. */
const UNSAFE = /[^\p{L}\p{N} ._~@+=,-]|^\./gu

/**
 * The beginning of a file's name; each name has its own, as what is unsafe in one becomes `%` and hexadecimal digits.
 * @param {string} name
 * @throws {SluiceError} SLUICE_SINK_IDENTIFIER
 */
export function fileName (name) {
  const escaped = escape(name)
  const bytes = Buffer.byteLength(escaped)
  if (bytes <= fileRules.maxNameBytes) return escaped
  const message = `The file name "${escaped.slice(0, 60)}…" has ${bytes} bytes, of which a file name keeps ${fileRules.maxNameBytes}.`
  throw new SluiceError('SLUICE_SINK_IDENTIFIER', message, { fix: 'Rename the source, or set another file.' })
}

/** Whether there can be such a file: rows of others are dead letters. @param {string} name */
export function isFileName (name) {
  return Buffer.byteLength(escape(name)) <= fileRules.maxNameBytes
}

/** @param {string} name */
function escape (name) {
  return name.replace(UNSAFE, character => Buffer.from(character).toString('hex').replace(/../g, '%$&').toUpperCase())
}

const NUMBER_DIGITS = 6

/** A file's name. @param {string} prefix @param {number} number @param {string} ending */
export function numberedName (prefix, number, ending) {
  return `${prefix}-${String(number).padStart(NUMBER_DIGITS, '0')}.${ending}`
}

/**
 * Columns of files; a type is its own kind.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'a file',
  maxNameBytes: 1000,
  maxColumns: 10_000,
  fold: name => name,
  timeColumns: [{ name: 'time', type: 'time', origin: 'time' }],
  ownNames: ['time', 'source'],
  columnTypes: kinds(name => name),
  accepts: kinds(name => [name])
}

/** @template T @param {(type: import('../wide.js').ValueType) => T} of */
function kinds (of) {
  return {
    time: of('time'),
    time_ns: of('time_ns'),
    float64: of('float64'),
    float32: of('float32'),
    int64: of('int64'),
    int32: of('int32'),
    int16: of('int16'),
    uint16: of('uint16'),
    bool: of('bool'),
    string: of('string'),
    json: of('json'),
    bytes: of('bytes')
  }
}
