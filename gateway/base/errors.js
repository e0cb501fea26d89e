/**
 * Every error a user can meet: a stable code, what went wrong, and what to do about it.
 */
export class SluiceError extends Error {
  /**
   * @param {`SLUICE_${string}`} code  stable, greppable
   * @param {string} message  what went wrong, and where
   * @param {{cause?: unknown, fix?: string, details?: object}} [more]  `fix` says what the user can do
   */
  constructor (code, message, { cause, fix, details } = {}) {
    super(fix ? `${message} ${fix}` : message, { cause })
    this.name = 'SluiceError'
    this.code = code
    this.fix = fix
    this.details = details
  }
}

/**
 * One line about any thrown value, its code first where it has one. What others say comes without its full stop: we put it into sentences.
 * @param {unknown} error
 * @returns {string}
 */
export function describe (error) {
  if (!(error instanceof Error)) return String(error)
  const { code } = /** @type {{code?: string}} */ (error)
  const said = error.message || (error instanceof AggregateError ? error.errors.map(describe).join('; ') : error.name)
  const text = error instanceof SluiceError ? said : said.replace(/\.\s*$/, '')
  return code && !text.includes(code) ? `${code}: ${text}` : text
}
