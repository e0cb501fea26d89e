/**
 * What the charts are drawn of: times in seconds, and a column for each series.
 *
 * @typedef {import('./tracks.js').Tracks} Tracks
 * @typedef {{fromMs: number, toMs: number}} Span
 * @typedef {{times: number[], columns: (number|null)[][]}} Curves
 * @typedef {{fromMs: number, stepMs: number, series: Record<string, (number|null)[]>}} Past  as the history answers
 */

const POINTS = 600
/** As many as one request may ask for. */
const MAX_ASKED = 50

/** What was in the window, by the gateway's own records; null where it does not answer. @param {string[]} keys @param {Span} span */
export async function fetchPast (keys, span) {
  /** @type {Past[]} */
  const parts = []
  for (let first = 0; first < keys.length; first += MAX_ASKED) {
    const answer = await fetch(pastUrl('history', keys.slice(first, first + MAX_ASKED), span)).catch(() => null)
    if (!answer?.ok) return null
    parts.push(await answer.json())
  }
  return parts.length === 0 ? null : { ...parts[0], series: Object.assign({}, ...parts.map(({ series }) => series)) }
}

/** @param {'history'|'history.csv'} path @param {string[]} keys @param {Span} span */
export function pastUrl (path, keys, { fromMs, toMs }) {
  const series = keys.slice(0, MAX_ASKED).map(encodeURIComponent).join(',')
  return `${path}?from=${Math.round(fromMs)}&to=${Math.round(toMs)}&points=${POINTS}&series=${series}`
}

/**
 * Old values from the history, the newest from the stream: a step of the history that has reports of the stream in it is left out.
 * @param {string[]} keys
 * @param {Past|null} past
 * @param {Tracks|null} tracks  null for none of the stream's
 * @param {Span} span
 * @returns {Curves}
 */
export function curvesOf (keys, past, tracks, { fromMs, toMs }) {
  const liveMs = tracks?.times[0] ?? Infinity
  const count = past ? Math.max(0, ...Object.values(past.series).map(values => values.length)) : 0
  const { fromMs: pastMs = 0, stepMs = 1 } = past ?? {}
  const old = Array.from({ length: count }, (_, i) => i)
    .filter(i => pastMs + (i + 1) * stepMs <= liveMs && pastMs + (i + 1) * stepMs >= fromMs && pastMs + i * stepMs <= toMs)
  // The step under way is not recorded yet: no hole in the curve.
  const known = old.findLastIndex(i => keys.some(key => (past?.series[key]?.[i] ?? null) !== null))
  if (known >= 0 && liveMs - (pastMs + (old[known] + 1) * stepMs) < 2 * stepMs) old.length = known + 1
  const recent = tracks ? tracks.times.map((_, i) => i).filter(i => tracks.times[i] >= fromMs && tracks.times[i] <= toMs) : []
  return {
    times: [...old.map(i => (pastMs + (i + 0.5) * stepMs) / 1000), ...recent.map(i => /** @type {Tracks} */ (tracks).times[i] / 1000)],
    columns: keys.map(key => {
      const live = tracks?.of(key) ?? []
      return [...old.map(i => past?.series[key]?.[i] ?? null), ...recent.map(i => live[i] ?? null)]
    })
  }
}
