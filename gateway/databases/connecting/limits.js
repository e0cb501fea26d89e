import { connectError, silence } from './failure.js'

/** Below the 15 s that Node-RED leaves a node to close, and a test to answer. */
export const CONNECT_TIMEOUT_MS = 10_000

/** A server that is gone without closing its connections is noticed after this long, and not after the system's two hours. */
export const KEEP_ALIVE_MS = 20_000

/**
 * A server that owes an answer, and neither sends nor takes a byte for so long, will not give one: what it was asked, or what it has
 * answered, was lost on a way whose next stop keeps the connection open, as a proxy does. Not less, as a slow disk may need minutes for a
 * write, which would never be stored if it were broken off each time.
 */
export const ANSWER_TIMEOUT_MS = 300_000

/** What may take a server long before it says anything: a query, or what looks at all rows of a table. */
const PATIENCE_MS = 3_600_000

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

/** Ends the connections to a server that owes an answer for too long. */
export class Watch {
  #silenceMs
  /** Whether an answer is owed, by connection. @type {Map<import('node:net').Socket, () => boolean>} */
  #owes = new Map()

  /** @param {number} silenceMs */
  constructor (silenceMs) {
    this.#silenceMs = silenceMs
  }

  /** @param {import('node:net').Socket} socket @param {() => boolean} isOwed */
  over (socket, isOwed) {
    this.#owes.set(socket, isOwed)
    socket.once('close', () => this.#owes.delete(socket))
    socket.setTimeout(this.#silenceMs)
    socket.on('timeout', () => { if (isOwed()) this.#end(socket) })
  }

  /**
   * With those that are idle: most likely they are as lost, and each would be waited for as long.
   * @param {import('node:net').Socket} silent
   */
  #end (silent) {
    const error = silence(silent.timeout ?? 0)
    silent.destroy(error)
    for (const [socket, isOwed] of this.#owes) if (socket.timeout === this.#silenceMs && !isOwed()) socket.destroy(error)
  }
}

/**
 * Does what may take the server long.
 * @template T
 * @param {import('node:net').Socket} socket  which is watched
 * @param {() => Promise<T>} work
 */
export async function patiently (socket, work) {
  const { timeout = 0 } = socket
  socket.setTimeout(PATIENCE_MS)
  try {
    return await work()
  } finally {
    if (!socket.destroyed) socket.setTimeout(timeout)
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
