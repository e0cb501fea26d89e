/** By how much two clocks of the same machine may differ: that of a log, and that of a frame. */
const READING_MS = 1000
/** systemd is told that the flow runs, and not when its sources do: an emulated processor opens a bus so much later. */
const OPENING_MS = 15_000

/**
 * @typedef {{fromMs: number, toMs: number}} Outage
 */

/**
 * When the service was away.
 * @param {string} journal  of the unit, each line with seconds since 1970
 * @returns {Outage[]}
 */
export function outagesIn (journal) {
  const outages = /** @type {Outage[]} */ ([])
  let fromMs = NaN
  for (const [, time, what] of journal.matchAll(/^(\d+\.\d+) \S+ systemd\[1\]: (Stopping|Started) /gm)) {
    const ms = Number(time) * 1000
    if (what === 'Stopping') fromMs = ms
    else if (fromMs <= ms) outages.push({ fromMs, toMs: ms })
    if (what === 'Started') fromMs = NaN
  }
  return outages
}

/**
 * Nobody hears a frame while the gateway restarts; all others have to be there, once.
 * @param {string[]} rows  eight bytes in hexadecimal, the time in nanoseconds; in the order of time
 * @param {number} sent
 * @param {Outage[]} outages
 * @returns {string} a line to tell
 * @throws {Error} where something is missing or doubled
 */
export function judgeUpdates (rows, sent, outages) {
  const frames = rows.map(row => {
    const [data, time] = row.split('|')
    return { count: Number(Buffer.from(data, 'hex').readBigUInt64LE()), ms: Number(BigInt(time) / 1_000_000n) }
  })
  const doubled = rows.length - new Set(frames.map(({ count }) => count)).size
  if (doubled > 0) throw new Error(`${doubled} of ${rows.length} rows are doubled.`)
  if (frames[0]?.count !== 0 || frames.at(-1)?.count !== sent - 1) {
    throw new Error(`${rows.length} rows, from frame ${frames[0]?.count} to frame ${frames.at(-1)?.count} of ${sent}: some are missing.`)
  }
  let unheard = 0
  for (let i = 1; i < frames.length; i++) {
    const [before, after] = [frames[i - 1], frames[i]]
    const missing = after.count - before.count - 1
    const isAway = outages.some(({ fromMs, toMs }) => {
      return before.ms >= fromMs - READING_MS && before.ms <= toMs + READING_MS && after.ms <= toMs + OPENING_MS
    })
    if (missing !== 0 && !isAway) {
      const away = outages.map(({ fromMs, toMs }) => span(fromMs, toMs)).join(', ')
      const gap = span(before.ms, after.ms)
      throw new Error(`${missing} frames are missing behind frame ${before.count}, ${gap}; the gateway was away ${away}.`)
    }
    unheard += missing
  }
  return `${sent} frames: ${rows.length} rows, none doubled, none missing but for ${unheard} that were sent while the gateway restarted`
}

/** @param {number} fromMs @param {number} toMs */
function span (fromMs, toMs) {
  return [fromMs, toMs].map(ms => new Date(ms).toISOString().slice('2026-01-01T'.length)).join(' to ')
}
