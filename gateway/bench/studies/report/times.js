/** The hour says which clock: reports travel. @param {number} ms  since 1970 */
export function moment (ms) {
  const date = new Date(ms)
  const day = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
  return `${day}, ${date.toISOString().slice(11, 16)} UTC`
}

/** "48 s", "12 min 5 s", "4 h 10 min". @param {number} ms */
export function span (ms) {
  const seconds = ms / 1000
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  return hours > 0 ? pair(hours, 'h', minutes, 'min') : pair(minutes, 'min', whole % 60, 's')
}

/** Of a time axis: "0:30", "1:05:00". @param {number} seconds */
export function clock (seconds) {
  const whole = Math.round(Math.abs(seconds))
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const text = hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`
  return seconds < 0 && whole > 0 ? `−${text}` : text
}

/** @param {number} large @param {string} unit @param {number} small @param {string} smallUnit */
function pair (large, unit, small, smallUnit) {
  return small > 0 ? `${large} ${unit} ${small} ${smallUnit}` : `${large} ${unit}`
}
