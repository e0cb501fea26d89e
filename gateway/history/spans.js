/** The two resolutions that are kept, and the files they are in. */
export const STEP_MS = 10_000
export const COARSE_MS = 300_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000
/** Steps in a coarse one. */
export const PER_COARSE = COARSE_MS / STEP_MS

/** @param {number} hour  since 1970 @returns {import('./chunk.js').Span} */
export function spanOfHour (hour) {
  const length = HOUR_MS / STEP_MS
  return { stepMs: STEP_MS, start: hour * length, length }
}

/** @param {number} day  since 1970 @returns {import('./chunk.js').Span} */
export function spanOfDay (day) {
  const length = DAY_MS / COARSE_MS
  return { stepMs: COARSE_MS, start: day * length, length }
}

/** `2026-11-23T12`. @param {number} hour */
export function nameOfHour (hour) { return new Date(hour * HOUR_MS).toISOString().slice(0, 13) }

/** `2026-11-23`. @param {number} day */
export function nameOfDay (day) { return new Date(day * DAY_MS).toISOString().slice(0, 10) }
