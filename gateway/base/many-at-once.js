/**
 * Works on things in their order, on so many at a time. Once one has failed no more are begun; what is under way goes on.
 * @template T
 * @param {number} count
 * @param {Iterable<T>} things
 * @param {(thing: T) => Promise<unknown>} work
 * @param {AbortSignal} [signal]
 */
export async function manyAtOnce (count, things, work, signal) {
  const waiting = (function * () { yield * things })() // ends for all
  await Promise.all(Array.from({ length: count }, async () => {
    for (const thing of waiting) {
      signal?.throwIfAborted()
      await work(thing)
    }
  }))
}
