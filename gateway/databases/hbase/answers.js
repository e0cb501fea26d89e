import { SluiceError } from '../../base/errors.js'
import { connectError, passwordMissing, reasonOf } from '../connecting/failure.js'
import { AnswerError } from '../http.js'

/** What the REST server answers instead of success, in words. */

const SEE_LOG = 'Servers that start need a moment. Where this lasts, the log of the REST server says more.'

/** Of the answer that an error comes from. @param {any} error @returns {number|undefined} */
export function statusOf (error) {
  return error?.cause instanceof AnswerError ? error.cause.status : undefined
}

/**
 * The server answers with Java's exceptions, each caused by the next, and where in the program they were thrown; or with an object that
 * says as much as its status does.
 * @param {string} text
 */
export function reasonIn (text) {
  if (text.startsWith('{')) return ''
  const lines = text.split('\n').map(line => line.trim()).filter(line => line !== '' && !line.startsWith('at '))
  const causes = lines.filter(line => /[a-z](Exception|Error): ./.test(line))
  return (causes.at(-1) ?? lines[0] ?? '').replace(/^.*\b([A-Za-z]+(?:Exception|Error): )/, '$1')
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
  // What is written to a disabled table is refused like what is written to a region that moves.
  const isUnserved = text.includes('NotServingRegion')
  if (status === 410 || text.includes('TableNotEnabled') || isUnserved) {
    const table = decodeURIComponent(path.split('/')[1])
    return `Where this lasts, the table ${isUnserved ? 'may be' : 'is'} disabled: have it enabled in HBase's shell, by enable '${table}'.`
  }
  return status >= 500 ? SEE_LOG : undefined
}
