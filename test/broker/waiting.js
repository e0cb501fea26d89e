import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until a condition holds; the test's own time limit ends it otherwise. @param {() => boolean} condition */
export async function until (condition) {
  while (!condition()) await sleep(5)
}

/** Waits until a number has stopped growing, and returns it. @param {() => number} count */
export async function settled (count) {
  let before
  do {
    before = count()
    await sleep(200)
  } while (count() !== before)
  return before
}
