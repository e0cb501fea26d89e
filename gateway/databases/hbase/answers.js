import { SluiceError } from '../../base/errors.js'
import { connectError, passwordMissing, reasonOf } from '../connecting/failure.js'
import { AnswerError } from '../http.js'

/** What the REST server answers instead of success, in words. */

const SEE_LOG = 'Servers that start need a moment. Where this lasts, the log of the REST server says more.'

/** Of the answer that an error comes from. @param {any} error @returns {number|undefined} */
export function statusOf (error) {
  return error?.cause instanceof AnswerError ? error.cause.status : undefined
}

/** A server answers with a page, or with what Java says at each of its lines. @param {string} text */
export function reasonIn (text) {
  const [, message = text] = /^\{\s*"servlet".*?"message":\s*"(.*?)",\s*"/s.exec(text) ?? []
  const [exceptions] = message.split(/\s+at (?=[\w$.]+[/(.])/)
  return exceptions.split(/(?:[a-z]\w*\.)+(?=[A-Z]\w*(?:Exception|Error)\b)/).at(-1)?.trim() ?? ''
}

/**
 * @param {unknown} error
 * @param {{place: string, user: string, password: string, path: string}} asked
 * @returns {SluiceError}
 */
export function explained (error, { place, user, password, path }) {
  if (!(error instanceof AnswerError)) return connectError(place, error)
  const { status, text } = error
  if (status === 401 && password === '') return passwordMissing(error, place, { user })
  const problem = `${place} answers ${status}: ${reasonOf(error)}.`
  if (status === 401) return new SluiceError('SLUICE_SINK_CONNECT', problem, { cause: error, fix: 'Check user and password.' })
  return new SluiceError('SLUICE_SINK_HBASE', problem, { cause: error, fix: fixOf(status, text, path) })
}

/** @param {number} status @param {string} text @param {string} path */
function fixOf (status, text, path) {
  if (status === 403) return 'Grant the REST server\'s user RWCA on the namespace.'
  if (status === 410 || text.includes('TableNotEnabled')) {
    const table = decodeURIComponent(path.split('/')[1])
    return `Where this lasts, the table is disabled: have it enabled in HBase's shell, by enable '${table}'.`
  }
  return status >= 500 ? SEE_LOG : undefined
}
