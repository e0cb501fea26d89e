const BEAT_MS = 1000

/** @type {Set<() => void>} */
const listeners = new Set()
/** @type {NodeJS.Timeout|undefined} */
let timer

function beat () {
  for (const run of [...listeners]) if (listeners.has(run)) run()
}

/**
 * Calls once a second, all in one turn: what an idle gateway costs is how often it wakes up, hardly what it does then. Keeps no process
 * alive.
 * @param {() => void} run  must not throw
 * @returns {() => void} ends it
 */
export function everySecond (run) {
  const own = () => run() // what is given twice is called twice
  listeners.add(own)
  timer ??= setInterval(beat, BEAT_MS).unref()
  return () => {
    listeners.delete(own)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
