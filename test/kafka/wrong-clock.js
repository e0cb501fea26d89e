/** More than brokers put up with, unless told otherwise. */
const AHEAD_MS = 7_200_000

/** Does something while the clock of this process is ahead of that of all others. @template T @param {() => Promise<T>} work */
export async function withClockAhead (work) {
  const { now } = Date
  Date.now = () => now() + AHEAD_MS
  try {
    return await work()
  } finally {
    Date.now = now
  }
}
