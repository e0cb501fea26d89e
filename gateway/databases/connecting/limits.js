import { connectError, silence } from './failure.js'

/** Below the 15 s that Node-RED leaves a node to close, and a test to answer. */
export const CONNECT_TIMEOUT_MS = 10_000

/** A server that is gone without closing its connections is noticed after this long, and not after the system's two hours. */
export const KEEP_ALIVE_MS = 20_000

const TEST_TIMEOUT_MS = 14_000

/**
 * Tests a connection, for a limited time.
 * @template T
 * @param {string} place  for the error of a server that does not answer in time
 * @param {AbortSignal|undefined} signal
 * @param {(signal: AbortSignal) => Promise<T>} test
 * @returns {Promise<T>}
 */
export async function testInTime (place, signal, test) {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(connectError(place, silence(TEST_TIMEOUT_MS))), TEST_TIMEOUT_MS)
  const ends = signal ? AbortSignal.any([signal, late.signal]) : late.signal
  try {
    return await orAborted(test(ends), ends)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * @template T
 * @param {Promise<T>} work
 * @param {AbortSignal} [signal]
 * @returns {Promise<T>} rejects at once when aborted
 */
export async function orAborted (work, signal) {
  if (!signal) return work
  /** @type {PromiseWithResolvers<never>} */
  const { promise: aborted, reject } = Promise.withResolvers()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
