import { SluiceError, describe } from '../../base/errors.js'
import { SAMPLE_PATH, checkToken } from './server.js'

/**
 * @typedef {import('./usage.js').Monitor} Monitor
 * @typedef {import('./usage.js').Sample} Sample
 */

const TIMEOUT_MS = 10_000
const MAX_BYTES = 2 ** 20
const MAX_NOTES = 100
const MAX_NOTE = 200

/** Reads another machine, where `sluice monitor` runs. @implements {Monitor} */
export class RemoteMonitor {
  #url
  #token

  /** @param {{url: string, token: string}} options  such as http://192.168.1.7:1879 @throws {SluiceError} */
  constructor ({ url, token }) {
    const base = URL.parse(url)
    if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password) {
      throw new SluiceError('SLUICE_MONITOR_REMOTE', 'The address of a monitor must be http://HOST:PORT, without user and password.')
    }
    checkToken(token)
    this.#url = new URL(`${base.pathname.replace(/\/$/, '')}${SAMPLE_PATH}`, base)
    this.#token = token
  }

  /**
   * @param {{fresh?: boolean}} [options]
   * @returns {Promise<Sample>}
   * @throws {SluiceError} SLUICE_MONITOR_REMOTE, also while it is away
   */
  async read ({ fresh = false } = {}) {
    const url = new URL(this.#url)
    if (fresh) url.searchParams.set('fresh', '')
    try {
      const headers = { Authorization: `Bearer ${this.#token}` }
      const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
      const text = await textOf(response)
      if (response.ok) return sampleIn(text)
      throw new Error(response.status === 401 ? 'it refuses the token' : `it answered ${response.status}`)
    } catch (error) {
      const cause = error instanceof TypeError && error.cause ? error.cause : error // fetch says why only there
      throw new SluiceError('SLUICE_MONITOR_REMOTE', `The monitor at ${url.origin} cannot be read: ${describe(cause)}.`, {
        fix: 'Check that sluice monitor runs there, its address and its token.', cause
      })
    }
  }
}

/** @param {Response} response */
async function textOf (response) {
  const chunks = []
  let bytes = 0
  for await (const chunk of /** @type {any} */ (response.body ?? [])) {
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error(`its answer is longer than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** What another machine sends is in reports later: numbers, and notes that are no longer than they need be. @param {string} text */
function sampleIn (text) {
  const { timeMs, elapsedSeconds, processes, folders, machine, notes } = JSON.parse(text) ?? {}
  if (!Number.isFinite(timeMs) || !Number.isFinite(elapsedSeconds)) throw new Error('it does not answer as a monitor does')
  const texts = (Array.isArray(notes) ? notes : []).slice(0, MAX_NOTES).map(note => String(note).slice(0, MAX_NOTE))
  const usages = { processes: numbersIn(processes), folders: numbersIn(folders), ...machine && { machine: numbersIn(machine) } }
  return /** @type {Sample} */ ({ timeMs, elapsedSeconds, ...usages, notes: texts })
}

/** @param {unknown} value @returns {object} with the numbers in it, and the objects that have some */
function numbersIn (value) {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value).flatMap(([key, each]) => {
    if (typeof each === 'object' && each !== null) return [[key, numbersIn(each)]]
    return Number.isFinite(each) ? [[key, each]] : []
  }))
}
