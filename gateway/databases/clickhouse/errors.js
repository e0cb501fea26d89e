/** An error that the server reports, by its number. */
export class ServerError extends Error {
  /** @param {number} number  of ClickHouse's error codes @param {string} message */
  constructor (number, message) {
    super(message)
    this.name = 'ServerError'
    this.number = number
  }
}

/** What to do about errors of the server, by their number, and of the way to it. @type {import('../connecting/failure.js').Fixes} */
export const FIXES = [
  [81, 'Create the database, or check its name.'],
  [192, 'Check user and password.'],
  [193, 'Check user and password.'],
  [194, 'Check user and password.'],
  [195, 'Check from where the server lets this user in.'],
  [291, 'Grant the user access to the database.'],
  [497, 'Grant the user what it names.'],
  [516, 'Check user and password.'],
  [241, 'Write smaller batches, or give the server more memory.'],
  [243, 'Make room on the server\'s disk.'],
  [252, 'Write larger batches less often: ClickHouse merges only so many inserts a second.'],
  ['ECONNRESET', 'Check the port and whether the server expects TLS there.'],
  ['HPE_INVALID_CONSTANT', 'Check the port: it must be that of the HTTP interface.']
]

/** Refusals of a login that has no password. */
export const NO_PASSWORD = [193, 194, 516]

/** Before anything is asked of the database. */
const LOGIN_NUMBERS = [81, 192, 193, 194, 195, 291, 516]

/**
 * Codes by which the server reports that the rows are at fault: a check of the table's, or what its columns compute from them.
 * CANNOT_PARSE_TEXT, CANNOT_PARSE_DATE,
 * CANNOT_PARSE_DATETIME, ARGUMENT_OUT_OF_BOUND, CANNOT_CONVERT_TYPE, CANNOT_PARSE_NUMBER, TOO_LARGE_STRING_SIZE, ILLEGAL_DIVISION,
 * VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE,
 * CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN, FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, DECIMAL_OVERFLOW, VIOLATED_CONSTRAINT,
 * UNKNOWN_ELEMENT_OF_ENUM.
 */
const REFUSED_NUMBERS = [6, 38, 41, 69, 70, 72, 131, 153, 321, 349, 395, 407, 469, 691]

/** @param {unknown} error */
export function isRefused (error) {
  return error instanceof ServerError && REFUSED_NUMBERS.includes(error.number)
}

/** Whether there was no connection, or none that the server would serve. @param {unknown} error */
export function isConnectError (error) {
  return !(error instanceof ServerError) || LOGIN_NUMBERS.includes(error.number)
}

/**
 * What the server has answered instead of a result: a number and one line of text.
 * @param {string} answer
 */
export function serverError (answer) {
  const text = answer.trim()
  const [, number, rest] = /Code: (\d+)[.,]\s*(?:e\.displayText\(\) = )?(?:DB::|Poco::)?(?:\w*Exception: )?(.*)/s.exec(text) ??
    [undefined, '0', text]
  const [line] = rest.replace(/, e\.what\(\) = .*/s, '').replace(/\s*\(version [^)]*\)/g, '').trim().split('\n')
  const reason = line.slice(0, 1000).replace(/\.$/, '')
  return new ServerError(Number(number), number === '0' ? reason : `${reason} (ClickHouse error ${number})`)
}

/** Whether the server itself reports the error, and what it was asked is over. @param {unknown} error */
export function isAnswer (error) {
  return error instanceof Error && error.cause instanceof ServerError
}
