const NAMES = 'pass(?:word|wd|phrase)?|secret|token|api[-_]?key|credentials?|authorization'
const IS_SECRET = new RegExp(`(?:${NAMES})$`, 'i')
const GIVEN = new RegExp(`(["']?\\b\\w*(?:${NAMES})["']?\\s*[=:]\\s*)("[^"]*"|'[^']*'|(?:Bearer |Basic )?[^\\s&,;"']+)`, 'gi')
const IN_ADDRESS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]*:(?!\d+\/)[^\s@]*@/gi

/**
 * A copy in which passwords and tokens are `…`: reasons and settings come from drivers and servers, and reports are passed on.
 * @template T
 * @param {T} value
 * @returns {T}
 */
export function withoutSecrets (value) {
  return /** @type {T} */ (cleaned(value))
}

/** The same of addresses only: what is said about passwords stays. @param {string} text */
export function withoutPasswordsInAddresses (text) {
  return text.replace(IN_ADDRESS, '$1…@')
}

/** @param {unknown} value @returns {unknown} */
function cleaned (value) {
  if (typeof value === 'string') return withoutPasswordsInAddresses(value).replace(GIVEN, '$1…')
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) =>
    [name, typeof each === 'string' && IS_SECRET.test(name) ? '…' : cleaned(each)]))
}
