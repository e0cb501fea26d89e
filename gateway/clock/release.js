/** When this version was made: a clock that shows an earlier time has not been set. */
export const RELEASED = '2026-11-21T00:00:00Z'
