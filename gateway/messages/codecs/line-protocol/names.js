import { SluiceError } from '../../../base/errors.js'

/** A backslash before one of these, or at the end, would escape what follows the name; a line break always ends the line. */
const UNWRITABLE = /\n|\\(?=[ ,="]|$)/

/** A line that begins with one of these is a comment to the server, or loses its first character. */
const UNWRITABLE_START = /^[#\t\0]/

/**
 * A measurement's name as written in line protocol.
 * @param {string} name
 * @throws {SluiceError} SLUICE_SINK_IDENTIFIER
 */
export function measurementText (name) {
  const fix = 'Rename the source, or set another measurement.'
  if (UNWRITABLE_START.test(name)) throw refused(`measurement name "${shown(name)}" begins with a character that InfluxDB refuses`, fix)
  if (name.includes('\r')) throw refused(`measurement name "${shown(name)}" has a carriage return, which no query can name`, fix)
  return check(name, 'measurement name', fix).replace(/[ ,]/g, '\\$&')
}

/** The name of a tag or field. @param {string} name @throws {SluiceError} SLUICE_SINK_IDENTIFIER */
export function keyText (name) {
  return check(name, 'name of a field or tag', 'Rename it.').replace(/[ ,=]/g, '\\$&')
}

/** A tag's value, which is not empty. @param {string} tag  its name @param {string} value @throws {SluiceError} SLUICE_SINK_IDENTIFIER */
export function tagText (tag, value) {
  return check(value, `value of the tag "${shown(tag)}"`, 'Write it differently, or send it as a field.').replace(/[ ,=]/g, '\\$&')
}

/** A text as the value of a field: any text can be one. @param {string} text */
export function stringText (text) {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

/** @param {string} text @param {string} what @param {string} fix */
function check (text, what, fix) {
  if (!UNWRITABLE.test(text)) return text
  const why = text.includes('\n') ? 'has a line break' : 'has a backslash at its end or before a space, comma, equals sign or quote'
  throw refused(`${what} "${shown(text)}" ${why}, which InfluxDB cannot store there`, fix)
}

/** @param {string} what @param {string} fix */
function refused (what, fix) {
  return new SluiceError('SLUICE_SINK_IDENTIFIER', `The ${what}.`, { fix })
}

/** @param {string} text */
function shown (text) {
  const line = text.replaceAll('\n', '\\n')
  return line.length > 60 ? `${line.slice(0, 60)}…` : line
}
