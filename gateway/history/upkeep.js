import { encodeBlock } from './blocks.js'
import { Chunk, combined } from './chunk.js'
import { MEASURES } from './measures.js'
import { HOUR_MS, DAY_MS, nameOfDay, nameOfHour, PER_COARSE, spanOfDay, spanOfHour } from './spans.js'

/** @typedef {import('./folder.js').Folder} Folder @typedef {import('./folder.js').File} File */

/** Hours that begin within the last 24 h, and that which is under way; by as many in the future a clock was wrong. */
const KEPT_HOURS = 24
/** Counted and not by the clock: one that is set to the wrong year must not take the history with it. */
const KEPT_DAYS = 31
const HOURS_A_DAY = DAY_MS / HOUR_MS

/** All that is kept of an hour. @param {Folder} folder @param {number} hour */
export async function loadHour (folder, hour) {
  const chunk = new Chunk(spanOfHour(hour))
  for (const kind of ['hour', 'minutes']) {
    for (const block of await folder.read(`${nameOfHour(hour)}.${kind}`)) await chunk.fill(block)
  }
  return chunk
}

/** Writes an hour that is over. @param {Folder} folder @param {number} hour @param {Chunk} chunk */
export async function closeHour (folder, hour, chunk) {
  if (chunk.columns.size > 0) await folder.replace('hour', hour, await encodeBlock(chunk))
  await folder.remove(`${nameOfHour(hour)}.minutes`)
}

/**
 * Closes hours that a process left open, makes days of those that are old, and drops what is too old. A kill at any moment leaves what can
 * be done again: hours go once the day that has them is written.
 * @param {Folder} folder
 * @param {number} nowHour  which stays open
 */
export async function keepUp (folder, nowHour) {
  for (const { hour } of folder.files.filter(({ kind, hour: its }) => kind === 'minutes' && its !== nowHour)) {
    await closeHour(folder, hour, await loadHour(folder, hour))
  }
  const old = folder.files.filter(({ kind, hour }) => kind === 'hour' && Math.abs(nowHour - hour) > KEPT_HOURS)
  for (const [day, hours] of Map.groupBy(old, ({ day: its }) => its)) await fold(folder, day, hours)
  await folder.dropOldest(name => name.endsWith('.day'), KEPT_DAYS)
}

/** @param {Folder} folder @param {number} day @param {File[]} hours */
async function fold (folder, day, hours) {
  const chunk = new Chunk(spanOfDay(day))
  for (const block of await folder.read(`${nameOfDay(day)}.day`)) await chunk.fill(block)
  for (const { name, hour } of hours) {
    const steps = chunk.length / HOURS_A_DAY
    const first = (hour % HOURS_A_DAY) * steps
    for (const block of await folder.read(name)) {
      await block.readAll((subject, measure, cells) => {
        const column = chunk.column(subject, measure)
        const { over } = MEASURES[subject.type]?.find(({ name: its }) => its === measure) ?? {}
        if (!column || !over || cells.length !== steps * PER_COARSE) return
        for (let i = 0; i < steps; i++) {
          const cell = combined(over, cells.subarray(i * PER_COARSE, (i + 1) * PER_COARSE))
          if (cell !== 0) column[first + i] = cell
        }
      })
    }
  }
  if (chunk.columns.size > 0) await folder.replace('day', day, await encodeBlock(chunk))
  for (const { name } of hours) await folder.remove(name)
}
