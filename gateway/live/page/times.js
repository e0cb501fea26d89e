import { language, text } from './text.js'

const DAY_MS = 86_400_000
const TIME = /** @type {const} */ ({ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' })

/** The time of day; the date as well where it is another day. @param {number} timeMs @param {number} [nowMs] */
export function clock (timeMs, nowMs = Date.now()) {
  const [time, now] = [new Date(timeMs), new Date(nowMs)]
  const isToday = time.toDateString() === now.toDateString()
  return time.toLocaleString(language, isToday ? TIME : { day: 'numeric', month: 'short', ...TIME })
}

/** "Nov 23" @param {number} timeMs */
export function day (timeMs) { return new Date(timeMs).toLocaleDateString(language, { day: 'numeric', month: 'short' }) }

/** How long, about: "12 s", "5 min", "3.5 h", "4 d". @param {number} ms */
export function lasting (ms) {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 90) return text('lasting.seconds', { count: seconds })
  if (seconds < 5400) return text('lasting.minutes', { count: Math.round(seconds / 60) })
  if (ms < 2 * DAY_MS) return text('lasting.hours', { hours: (seconds / 3600).toFixed(1) })
  return text('lasting.days', { count: Math.round(ms / DAY_MS) })
}

/** "since 04:12:07 (5 min)" @param {number} timeMs @param {number} nowMs  by the gateway's clock */
export function since (timeMs, nowMs) {
  return text('since', { time: clock(timeMs, nowMs), lasting: lasting(nowMs - timeMs) })
}
