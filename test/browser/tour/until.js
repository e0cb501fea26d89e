import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

/** Less than a test's own limit, so that what is found instead is named. */
const PATIENCE_MS = 120_000

/**
 * Waits until something is as it has to be, and gives it.
 * @template T
 * @param {() => Promise<T>} read
 * @param {(found: T) => boolean} isSo
 * @returns {Promise<T>}
 */
export async function until (read, isSo) {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(100)) {
    const found = await read()
    if (isSo(found)) return found
    if (Date.now() > deadline) throw new Error(`After ${PATIENCE_MS} ms it still is ${inspect(found)}.`)
  }
}
