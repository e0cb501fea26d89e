/**
 * Whether a name comes out of every broker, file and database as it went in: text without NUL and without half a surrogate pair.
 * @param {string} name
 */
export function isName (name) {
  return name !== '' && !name.includes('\0') && name.isWellFormed()
}
